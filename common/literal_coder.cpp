#include "literal_coder.h"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "sections.h"

namespace crcsync {

namespace {

// Deflate cannot win on fewer bytes: a zlib stream takes at least 9.
constexpr std::size_t min_compressible = 6;

}  // namespace

struct LiteralCoder::Deflate {
    z_stream stream{};

    explicit Deflate(int level) { check(deflateInit(&stream, level)); }
    Deflate(const Deflate& other) {
        // zlib declares the source of a copy without const, but only reads it.
        check(deflateCopy(&stream, const_cast<z_stream*>(&other.stream)));
    }
    Deflate& operator=(const Deflate&) = delete;
    ~Deflate() { deflateEnd(&stream); }

    // Feeds `in` and appends what comes out to `out`.
    void run(Bytes in, int flush, std::vector<std::uint8_t>& out) {
        constexpr std::size_t step = 16 * 1024;
        stream.next_in = const_cast<Bytef*>(in.data());
        stream.avail_in = static_cast<uInt>(in.size());
        do {
            const std::size_t size = out.size();
            out.resize(size + step);
            stream.next_out = out.data() + size;
            stream.avail_out = step;
            deflate(&stream, flush);
            out.resize(size + step - stream.avail_out);
        } while (stream.avail_out == 0);
    }

private:
    static void check(int result) {
        if (result == Z_MEM_ERROR) throw std::bad_alloc();
        if (result != Z_OK) throw std::runtime_error("zlib cannot compress");
    }
};

LiteralCoder::LiteralCoder(std::size_t buffer_size, int level, Sink& sink)
    : buffer_size_(std::clamp<std::size_t>(buffer_size, 1, 1U << 30)), level_(std::clamp(level, 0, 9)), sink_(sink) {}

LiteralCoder::~LiteralCoder() = default;

bool LiteralCoder::append(Bytes literals) {
    while (!literals.empty()) {
        // Judged only when more follows: a run of just one buffer ends in end_run(), which knows more.
        if (pending_.size() == buffer_size_ && !full_buffer(false)) return false;
        const Bytes part = literals.first(std::min(buffer_size_ - pending_.size(), literals.size()));
        pending_.insert(pending_.end(), part.begin(), part.end());
        literals = literals.subspan(part.size());
    }
    return true;
}

bool LiteralCoder::flush() {
    return pending_.empty() || full_buffer(true);
}

bool LiteralCoder::end_run() {
    if (open_) {
        deflate_->run(pending_, Z_FINISH, compressed_);
        pending_.clear();
        open_ = false;
        return write_compressed();
    }
    if (pending_.empty()) return true;
    if (level_ == 0 || pending_.size() < min_compressible) return write_uncompressed();

    start_stream();
    compressed_.push_back(section::compressed);
    deflate_->run(pending_, Z_FINISH, compressed_);
    if (compressed_.size() >= uncompressed_size()) {
        compressed_.clear();
        return write_uncompressed();
    }
    pending_.clear();
    return write_compressed();
}

// The run goes on behind what is pending.
bool LiteralCoder::full_buffer(bool flush) {
    const int mode = flush ? Z_SYNC_FLUSH : Z_NO_FLUSH;
    if (open_) {
        deflate_->run(pending_, mode, compressed_);
        pending_.clear();
        return write_compressed();
    }
    if (level_ == 0 || pending_.size() < min_compressible) return write_uncompressed();

    start_stream();
    compressed_.push_back(section::compressed);
    deflate_->run(pending_, Z_NO_FLUSH, compressed_);
    if (flush) {
        // How long the section would be if it ended here: the honest comparison. Only a copy of the stream can tell.
        std::vector<std::uint8_t> rest;
        Deflate(*deflate_).run({}, Z_FINISH, rest);
        if (compressed_.size() + rest.size() >= uncompressed_size()) {
            compressed_.clear();
            return write_uncompressed();
        }
        deflate_->run({}, Z_SYNC_FLUSH, compressed_);
    }
    pending_.clear();
    open_ = true;
    return write_compressed();
}

void LiteralCoder::start_stream() {
    if (deflate_) {
        deflateReset(&deflate_->stream);
    } else {
        deflate_ = std::make_unique<Deflate>(level_);
    }
}

std::size_t LiteralCoder::uncompressed_size() const {
    return section::literal_overhead + pending_.size();
}

bool LiteralCoder::write_uncompressed() {
    const auto size = static_cast<std::uint32_t>(pending_.size());
    const std::uint8_t head[section::literal_overhead] = {
        section::literal, static_cast<std::uint8_t>(size >> 24), static_cast<std::uint8_t>(size >> 16),
        static_cast<std::uint8_t>(size >> 8), static_cast<std::uint8_t>(size)};
    const bool written = sink_.write(head) && sink_.write(pending_);
    pending_.clear();
    return written;
}

bool LiteralCoder::write_compressed() {
    const bool written = compressed_.empty() || sink_.write(compressed_);
    compressed_.clear();
    return written;
}

}  // namespace crcsync
