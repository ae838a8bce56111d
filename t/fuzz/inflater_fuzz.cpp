// The inflater over gzip and deflate bodies of an origin, and zlib sections of a peer: the output does not depend on
// the cuts, is within the limit, and the end is only where a stream has ended.
//
// Input: options, cuts, then a stream, or text from which one is made, with a byte of it damaged perhaps.
#include "inflater.h"

#include <zlib.h>

#include "target.h"

using namespace crcsync;
using fuzz::Input;

namespace {

constexpr Inflater::Format formats[] = {Inflater::Format::zlib, Inflater::Format::gzip, Inflater::Format::deflate};
constexpr int windows[] = {MAX_WBITS, MAX_WBITS + 16, -MAX_WBITS};

std::string compressed(Bytes text, std::uint8_t how) {
    std::string long_text;
    for (const std::uint8_t byte : text) long_text.append(how / 4 * 5U + 1, static_cast<char>(byte));
    z_stream stream{};
    FUZZ_CHECK(deflateInit2(&stream, how % 10, Z_DEFLATED, windows[how % 3], 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(deflateBound(&stream, long_text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(long_text.data());
    stream.avail_in = static_cast<uInt>(long_text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    FUZZ_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(out.size() - stream.avail_out);
    deflateEnd(&stream);
    return out;
}

struct Inflated {
    Status status = Status::ok;
    bool at_end = false;
    std::string text;
    std::size_t left = 0;  // bytes behind the end of a zlib stream
};

template <class Next>
Inflated inflate(Inflater& inflater, std::uint64_t limit, std::string_view stream, Next&& next) {
    fuzz::BoundedSink sink(limit);
    Inflated result;
    Bytes rest = as_bytes(stream);
    while (result.status == Status::ok && !rest.empty()) {
        Bytes piece = next(rest);
        const bool empty = piece.empty();
        result.status = inflater.push(piece, sink);
        FUZZ_CHECK(inflater.produced() >= sink.text().size() && inflater.produced() <= limit);
        result.left = piece.size() + rest.size();
        // Only the end of a zlib stream leaves anything of a piece.
        if (result.status == Status::ok && !piece.empty()) break;
        FUZZ_CHECK(!empty || piece.empty());
    }
    result.at_end = inflater.at_end();
    result.text = sink.text();
    return result;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input(data, size);
    const std::uint8_t options = input.byte();
    const std::uint64_t limit = (options & 4) != 0 ? input.number16() : 1U << 17;
    const Inflater::Format format = formats[options % 4 % 3];
    fuzz::Cuts cuts(input);
    std::string stream;
    if ((options & 8) != 0) {
        const std::uint8_t how = input.byte();
        const std::uint32_t damage_at = (options & 16) != 0 ? input.number16() : 0;
        const std::uint8_t damage = (options & 16) != 0 ? input.byte() : 0;
        const std::size_t first = (options & 32) != 0 ? input.byte() : SIZE_MAX;
        // Two streams, one behind the other: members of a gzip body, or garbage behind another.
        stream = compressed(input.bytes(first), how);
        if ((options & 32) != 0) stream += compressed(input.rest(), how);
        stream[damage_at % stream.size()] = static_cast<char>(stream[damage_at % stream.size()] ^ damage);
    } else {
        stream = as_text(input.rest());
    }

    Inflater inflater(format, limit);
    const Inflated whole = inflate(inflater, limit, stream, [](Bytes& rest) { return std::exchange(rest, Bytes{}); });
    FUZZ_CHECK(format == Inflater::Format::zlib || whole.status != Status::ok || whole.left == 0);

    // Kept and used again, as the decoder does for each section.
    inflater.reset(limit);
    FUZZ_CHECK(!inflater.at_end() && inflater.produced() == 0);
    const Inflated cut = inflate(inflater, limit, stream, [&](Bytes& rest) { return cuts.next(rest); });
    FUZZ_CHECK(cut.status == whole.status);
    if (cut.status == Status::ok) {
        FUZZ_CHECK(cut.text == whole.text && cut.at_end == whole.at_end);
    }
    return 0;
}
