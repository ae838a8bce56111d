#include "matcher.h"

#include <algorithm>

#include "crc64.h"

namespace crcsync {

namespace {

// Input is taken in steps of this size, which bounds the buffer whatever the caller hands in.
constexpr std::size_t step_size = 64 * 1024;

// The last block joins the others in the index where it is as long as they are.
std::span<const std::uint64_t> normal_hashes(const IfBlock& if_block, bool separate_last) {
    return std::span(if_block.hashes).first(if_block.hashes.size() - (separate_last ? 1 : 0));
}

}  // namespace

Matcher::Matcher(const IfBlock& if_block, MatchListener& listener)
    : if_block_(if_block),
      listener_(listener),
      normal_(if_block.layout.normal()),
      last_(if_block.layout.last()),
      separate_last_(normal_ != last_),
      index_(normal_hashes(if_block, separate_last_)),
      scan_(normal_, index_) {}

bool Matcher::push(Bytes piece) {
    while (!piece.empty()) {
        drop_decided();
        const Bytes step = piece.first(std::min(step_size, piece.size()));
        buffer_.insert(buffer_.end(), step.begin(), step.end());
        piece = piece.subspan(step.size());
        if (!scan()) return false;
        // A later end of the instance can still make the last `last_` bytes the last block.
        if (held() > last_ && !release(held() - last_)) return false;
    }
    return true;
}

// Moves what is still needed to the front of the buffer once that is the smaller part: so each byte is moved at most
// once or so, however small the pieces are, and the buffer is at most twice as long as what it holds.
void Matcher::drop_decided() {
    // The byte that leaves the window next is needed, even if the listener has had it.
    const std::size_t needed = have_window_ ? std::min(undecided_, window_) : undecided_;
    if (needed < held() - needed) return;
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(needed));
    undecided_ -= needed;
    if (have_window_) window_ -= needed;
}

bool Matcher::scan() {
    for (;;) {
        if (!have_window_) {
            if (held() - undecided_ < normal_) return true;
            window_ = undecided_;
            crc_ = crc64(0, Bytes(buffer_).subspan(window_, normal_));
            have_window_ = true;
            if (index_.may_contain(crc_) && index_.find(crc_)) {
                if (!match(window_, choose(crc_))) return false;
                continue;
            }
        }

        // The window that ends where a last block right after block N-2 would end.
        const std::size_t stop = undecided_ + (last_ - normal_);
        std::size_t count = held() - (window_ + normal_);
        if (after_second_last_ && window_ <= stop) count = std::min(count, stop - window_);

        if (count > 0) {
            const std::size_t hit = scan_.advance(buffer_.data() + window_, count, crc_);
            window_ += hit != 0 ? hit : count;
            if (hit != 0) {
                if (!match(window_, choose(crc_))) return false;
                continue;
            }
        }
        if (!after_second_last_ || window_ != stop) {
            if (count == 0) return true;
            continue;
        }
        after_second_last_ = false;
        bool matched = false;
        if (!try_last_at(undecided_, matched)) return false;
    }
}

// Of blocks with the same hash, the one that continues the run: then the last block can follow in its place too.
std::uint32_t Matcher::choose(std::uint64_t crc) const {
    const std::size_t indexed = if_block_.hashes.size() - (separate_last_ ? 1 : 0);
    if (expected_ < indexed && if_block_.hashes[expected_] == crc) return expected_;
    return index_.find(crc).value_or(0);
}

bool Matcher::match(std::size_t window, std::uint32_t block) {
    if (!release(window)) return false;
    const std::uint64_t length = if_block_.layout.length(block);
    undecided_ = window + length;
    have_window_ = false;
    expected_ = block + 1;
    after_second_last_ = separate_last_ && block + 2 == if_block_.layout.count;
    return listener_.block(block, length);
}

bool Matcher::try_last_at(std::size_t window, bool& matched) {
    matched = crc64(0, Bytes(buffer_).subspan(window, last_)) == if_block_.hashes.back();
    return !matched || match(window, if_block_.layout.count - 1);
}

bool Matcher::release(std::size_t end) {
    if (end <= undecided_) return true;
    const Bytes bytes = Bytes(buffer_).subspan(undecided_, end - undecided_);
    undecided_ = end;
    after_second_last_ = false;
    return listener_.literal(bytes);
}

bool Matcher::flush() {
    bool matched = false;
    if (separate_last_ && held() - undecided_ >= last_ && !try_last_at(held() - last_, matched)) return false;
    // The next window to be looked up starts one byte after this one.
    return !have_window_ || release(window_ + 1);
}

bool Matcher::finish() {
    bool matched = false;
    if (separate_last_ && held() - undecided_ >= last_ && !try_last_at(held() - last_, matched)) return false;
    return release(held());
}

}  // namespace crcsync
