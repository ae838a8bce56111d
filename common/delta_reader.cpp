#include "delta_reader.h"

#include <algorithm>

#include "sections.h"

namespace crcsync {

namespace {

constexpr std::size_t copy_size = 32 * 1024;
constexpr std::size_t length_size = 4;

// The most that a delta may take: a little more than the instance, which is what an encoder needs where nothing
// matches. Sections that give nothing would go on for ever else.
std::uint64_t max_delta(std::uint64_t max_instance) {
    const std::uint64_t more = max_instance / 64 + 64 * 1024;
    return more > UINT64_MAX - max_instance ? UINT64_MAX : max_instance + more;
}

}  // namespace

DeltaReader::DeltaReader(const BlockLayout& layout, Base& base, const DecoderLimits& limits, Sink& sink)
    : layout_(layout), base_(base), limits_(limits), sink_(sink) {}

Status DeltaReader::push(Bytes piece) {
    // What comes before the bound is looked at first: so the status does not depend on how the delta is cut.
    const std::uint64_t most = max_delta(limits_.max_instance);
    const bool too_long = piece.size() > most - std::min(most, stats_.delta_bytes);
    stats_.delta_bytes += piece.size();
    if (too_long) piece = piece.first(piece.size() - std::min(piece.size(), stats_.delta_bytes - most));
    while (status_ == Status::ok && !piece.empty()) {
        const bool inside = part_ != Part::identifier;
        status_ = take(piece);
        if (inside && part_ == Part::identifier) ++stats_.sections;
    }
    if (status_ == Status::ok && too_long) status_ = Status::too_large;
    return status_;
}

// Takes one step of the current section from the front of `in`.
Status DeltaReader::take(Bytes& in) {
    switch (part_) {
        case Part::identifier: {
            const std::uint8_t id = in.front();
            in = in.subspan(1);
            return begin_section(id);
        }
        case Part::block_number: {
            const std::uint8_t number = in.front();
            in = in.subspan(1);
            part_ = Part::identifier;
            return copy_block(number);
        }
        case Part::literal_length: {
            stats_.literal_delta_bytes += std::min(in.size(), length_size - field_size_);
            if (!fill_field(in, length_size)) return Status::ok;
            literal_left_ = 0;
            for (std::size_t i = 0; i < length_size; ++i) literal_left_ = literal_left_ << 8 | field_[i];
            part_ = literal_left_ == 0 ? Part::identifier : Part::literal;
            return literal_left_ > room() ? Status::too_large : Status::ok;
        }
        case Part::literal: {
            const Bytes bytes = in.first(std::min<std::uint64_t>(literal_left_, in.size()));
            in = in.subspan(bytes.size());
            literal_left_ -= bytes.size();
            if (literal_left_ == 0) part_ = Part::identifier;
            stats_.literal_bytes += bytes.size();
            stats_.literal_delta_bytes += bytes.size();
            return write(bytes) ? Status::ok : Status::sink_failed;
        }
        case Part::compressed: {
            const std::size_t before = in.size();
            const std::uint64_t produced = inflater_->produced();
            const Status status = inflater_->push(in, *this);
            stats_.literal_delta_bytes += before - in.size();
            stats_.literal_bytes += inflater_->produced() - produced;
            if (inflater_->at_end()) part_ = Part::identifier;
            return status;
        }
        case Part::strong_hash: {
            if (!fill_field(in, sha1_size)) return Status::ok;
            expected_ = field_;
            part_ = Part::identifier;
            return Status::ok;
        }
    }
    return Status::corrupt_delta;
}

Status DeltaReader::begin_section(std::uint8_t id) {
    field_size_ = 0;
    switch (id) {
        case section::block: part_ = Part::block_number; return Status::ok;
        case section::literal:
            ++stats_.literal_delta_bytes;
            part_ = Part::literal_length;
            return Status::ok;
        case section::compressed:
            ++stats_.literal_delta_bytes;
            part_ = Part::compressed;
            if (inflater_) {
                inflater_->reset(room());
            } else {
                inflater_.emplace(Inflater::Format::zlib, room());
            }
            return Status::ok;
        case section::strong_hash:
            if (expected_) return Status::corrupt_delta;
            part_ = Part::strong_hash;
            return Status::ok;
        default: return Status::corrupt_delta;
    }
}

Status DeltaReader::copy_block(std::uint32_t number) {
    if (number >= layout_.count) return Status::corrupt_delta;
    std::uint64_t offset = layout_.offset(number);
    std::uint64_t left = layout_.length(number);
    if (left > room()) return Status::too_large;

    ++stats_.blocks;
    copy_.resize(copy_size);
    while (left > 0) {
        const std::span<std::uint8_t> part(copy_.data(), std::min<std::uint64_t>(left, copy_.size()));
        if (!base_.read(offset, part)) return Status::base_failed;
        if (!write(part)) return Status::sink_failed;
        offset += part.size();
        left -= part.size();
    }
    return Status::ok;
}

// Collects a field of `size` bytes from pieces; true when it is whole.
bool DeltaReader::fill_field(Bytes& in, std::size_t size) {
    const Bytes part = in.first(std::min(in.size(), size - field_size_));
    std::copy(part.begin(), part.end(), field_.begin() + static_cast<std::ptrdiff_t>(field_size_));
    in = in.subspan(part.size());
    field_size_ += part.size();
    return field_size_ == size;
}

bool DeltaReader::write(Bytes bytes) {
    hash_.update(bytes);
    stats_.instance_bytes += bytes.size();
    return sink_.write(bytes);
}

Status DeltaReader::finish() {
    if (status_ != Status::ok) return status_;
    if (part_ != Part::identifier || !expected_) {
        status_ = Status::truncated;
    } else if (hash_.finish() != *expected_) {
        status_ = Status::hash_mismatch;
    }
    return status_;
}

}  // namespace crcsync
