#include "inflater.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <vector>

namespace crcsync {

namespace {

// zlib's windowBits: the format is chosen by what is added to or taken from the 15 bits of a 32 KiB window.
constexpr int zlib_window = MAX_WBITS;
constexpr int gzip_window = MAX_WBITS + 16;
constexpr int raw_window = -MAX_WBITS;

constexpr std::uint8_t gzip_id1 = 0x1f;

// Whether two bytes begin a zlib stream: method 8, and a check that makes them a multiple of 31 (RFC 1950, 2.2).
bool is_zlib_header(std::uint8_t first, std::uint8_t second) {
    return (first & 0x0f) == 8 && (first * 256 + second) % 31 == 0;
}

}  // namespace

struct Inflater::State {
    Format format;
    std::uint64_t limit;
    std::uint64_t produced = 0;
    z_stream stream{};
    bool ended = false;              // the stream's own end was reached
    bool garbage = false;            // what follows a gzip or deflate body's end is dropped, as browsers do
    bool decided = false;            // Format::deflate: zlib or raw is known
    std::vector<std::uint8_t> head;  // Format::deflate: the first byte, until the second has come
    std::array<std::uint8_t, 32 * 1024> out;

    State(Format f, std::uint64_t l) : format(f), limit(l) {
        const int result = inflateInit2(&stream, format == Format::gzip ? gzip_window : zlib_window);
        if (result == Z_MEM_ERROR) throw std::bad_alloc();
        if (result != Z_OK) throw std::runtime_error("zlib cannot decompress");
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { inflateEnd(&stream); }

    Status inflate_some(Bytes& in, Sink& sink);
};

Inflater::Inflater(Format format, std::uint64_t limit) : state_(std::make_unique<State>(format, limit)) {}

Inflater::~Inflater() = default;

// Until the stream ends or `in` does.
Status Inflater::State::inflate_some(Bytes& in, Sink& sink) {
    do {
        const auto fed = static_cast<uInt>(std::min<std::size_t>(in.size(), 1U << 30));
        stream.next_in = const_cast<Bytef*>(in.data());
        stream.avail_in = fed;
        stream.next_out = out.data();
        stream.avail_out = static_cast<uInt>(out.size());
        const int result = inflate(&stream, Z_NO_FLUSH);
        in = in.subspan(fed - stream.avail_in);

        const std::size_t got = out.size() - stream.avail_out;
        if (got > limit - produced) return Status::too_large;
        produced += got;
        if (got > 0 && !sink.write(Bytes(out).first(got))) return Status::sink_failed;

        if (result == Z_STREAM_END) {
            ended = true;
            return Status::ok;
        }
        if (result == Z_MEM_ERROR) throw std::bad_alloc();
        // Z_BUF_ERROR: no progress was possible, which just means that more input is needed. A preset dictionary
        // (Z_NEED_DICT) is not part of any format that we read.
        if (result != Z_OK && result != Z_BUF_ERROR) return Status::corrupt_delta;
    } while (!in.empty() || stream.avail_out == 0);
    return Status::ok;
}

Status Inflater::push(Bytes& in, Sink& sink) {
    State& s = *state_;
    while (!in.empty()) {
        if (s.garbage) {
            in = {};
            return Status::ok;
        }
        if (s.ended) {
            if (s.format == Format::zlib) return Status::ok;
            if (s.format == Format::deflate || in.front() != gzip_id1) {
                s.garbage = true;
                continue;
            }
            inflateReset(&s.stream);
            s.ended = false;
        }
        if (s.format == Format::deflate && !s.decided) {
            s.head.push_back(in.front());
            in = in.subspan(1);
            if (s.head.size() < 2) continue;
            s.decided = true;
            if (!is_zlib_header(s.head[0], s.head[1])) inflateReset2(&s.stream, raw_window);
            Bytes head = s.head;
            const Status status = s.inflate_some(head, sink);
            if (status != Status::ok) return status;
            // A raw stream of one byte does not exist, but one of two does.
            if (s.ended || in.empty()) continue;
        }
        const Status status = s.inflate_some(in, sink);
        if (status != Status::ok) return status;
        if (s.ended && s.format == Format::zlib) return Status::ok;
    }
    return Status::ok;
}

bool Inflater::at_end() const {
    return state_->ended;
}

std::uint64_t Inflater::produced() const {
    return state_->produced;
}

void Inflater::reset(std::uint64_t limit) {
    State& s = *state_;
    inflateReset2(&s.stream, s.format == Format::gzip ? gzip_window : zlib_window);
    s.limit = limit;
    s.produced = 0;
    s.ended = s.garbage = s.decided = false;
    s.head.clear();
}

}  // namespace crcsync
