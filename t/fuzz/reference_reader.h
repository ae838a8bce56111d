// Another reader of protocol 1 deltas, to compare ours with: it has the whole delta at once, and takes the format
// description word by word.
#pragma once

#include <zlib.h>

#include <optional>
#include <string>

#include "block_layout.h"
#include "digest.h"
#include "target.h"

namespace fuzz {

struct ReferenceResult {
    bool well_formed = false;  // whole sections, known ones, blocks that exist, within the limits
    std::string instance;
    std::optional<crcsync::Sha1Value> expected;  // from the S section
    bool right() const { return well_formed && expected && *expected == crcsync::sha1(crcsync::as_bytes(instance)); }
};

// Takes one zlib stream off `in`; nothing if it is broken, cut off, or too long.
inline std::optional<std::string> inflate_whole(Bytes& in, std::uint64_t limit) {
    z_stream stream{};
    FUZZ_CHECK(inflateInit(&stream) == Z_OK);
    std::string out;
    std::uint8_t part[4096];
    stream.next_in = const_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    int result = Z_OK;
    while (result == Z_OK && out.size() <= limit) {
        stream.next_out = part;
        stream.avail_out = sizeof part;
        result = inflate(&stream, Z_NO_FLUSH);
        out.append(reinterpret_cast<const char*>(part), sizeof part - stream.avail_out);
    }
    in = in.subspan(in.size() - stream.avail_in);
    inflateEnd(&stream);
    return result == Z_STREAM_END && out.size() <= limit ? std::optional(out) : std::nullopt;
}

inline ReferenceResult read_delta(std::string_view delta, std::string_view base, const crcsync::BlockLayout& layout,
                                  std::uint64_t limit) {
    ReferenceResult result;
    Bytes in = crcsync::as_bytes(delta);
    while (!in.empty()) {
        const char id = static_cast<char>(in.front());
        in = in.subspan(1);
        if (id == 'B') {
            if (in.empty() || in.front() >= layout.count) return result;
            const std::uint32_t number = in.front();
            const std::uint64_t length = number + 1 < layout.count
                                             ? layout.size / layout.count
                                             : layout.size / layout.count + layout.size % layout.count;
            result.instance += base.substr(layout.size / layout.count * number, length);
            in = in.subspan(1);
        } else if (id == 'L') {
            if (in.size() < 4) return result;
            const std::uint32_t length = std::uint32_t{in[0]} << 24 | in[1] << 16 | in[2] << 8 | in[3];
            in = in.subspan(4);
            if (in.size() < length) return result;
            result.instance += crcsync::as_text(in.first(length));
            in = in.subspan(length);
        } else if (id == 'Z') {
            const auto text = inflate_whole(in, limit - result.instance.size());
            if (!text) return result;
            result.instance += *text;
        } else if (id == 'S') {
            if (in.size() < crcsync::sha1_size || result.expected) return result;
            result.expected.emplace();
            std::copy_n(in.begin(), crcsync::sha1_size, result.expected->begin());
            in = in.subspan(crcsync::sha1_size);
        } else {
            return result;
        }
        if (result.instance.size() > limit) return result;
    }
    // A delta has a little more room than what it may expand to.
    result.well_formed = delta.size() <= limit + limit / 64 + 65536;
    return result;
}

}  // namespace fuzz
