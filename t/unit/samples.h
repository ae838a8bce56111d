// Material for the core's tests: pages, edits, and whole deltas made in one call. All of it is deterministic.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "decoder.h"
#include "encoder.h"
#include "signature.h"
#include "suite.h"

namespace samples {

using namespace crcsync;

// `size` bytes that do not compress.
inline std::string noise(std::size_t size, unsigned seed) {
    std::mt19937_64 random(seed);
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
}

// `size` bytes of text in words of a small vocabulary: compresses like a page.
inline std::string text(std::size_t size, unsigned seed) {
    static constexpr const char* words[] = {"<p>",  "</p>\n", "delta",  "block", "the",  "page",     "of",
                                            "link", "slow",   "<b>",    "</b>",  "hash", "response", "request",
                                            "ship", "school", "branch", "base",  "a",    "literal",  "and"};
    std::mt19937 random(seed);
    std::string page;
    while (page.size() < size) {
        page += words[random() % std::size(words)];
        page += random() % 7 == 0 ? std::to_string(random() % 100000) : " ";
    }
    page.resize(size);
    return page;
}

// `page` with `count` edits: bytes changed, put in, or taken out.
inline std::string edit(std::string page, unsigned count, unsigned seed) {
    std::mt19937 random(seed);
    for (unsigned i = 0; i < count; ++i) {
        const std::size_t at = page.empty() ? 0 : random() % page.size();
        const std::string piece = noise(1 + random() % 30, random());
        switch (random() % 3) {
            case 0: page.replace(at, piece.size(), piece); break;
            case 1: page.insert(at, piece); break;
            default: page.erase(at, piece.size()); break;
        }
    }
    return page;
}

inline IfBlock signature(const std::string& base, std::uint32_t blocks) {
    MemoryBase memory(as_bytes(base));
    IfBlock if_block;
    ck_assert(make_signature(memory, blocks, if_block) == Status::ok);
    return if_block;
}

// The delta for `page`, pushed in pieces of `piece` bytes (0: all at once).
inline std::string delta(const IfBlock& if_block, const std::string& page, std::size_t piece = 0,
                         const EncoderOptions& options = {}) {
    StringSink out;
    const auto encoder = make_encoder(if_block, options, out);
    Bytes rest = as_bytes(page);
    while (!rest.empty()) {
        const Bytes part = rest.first(piece == 0 ? rest.size() : std::min(piece, rest.size()));
        ck_assert(encoder->push(part) == Status::ok);
        rest = rest.subspan(part.size());
    }
    ck_assert(encoder->finish() == Status::ok);
    ck_assert_uint_eq(encoder->stats().delta_bytes, out.text().size());
    ck_assert_uint_eq(encoder->stats().instance_bytes, page.size());
    return out.take();
}

struct Decoded {
    Status status = Status::ok;
    std::string instance;
    DecoderStats stats;
};

inline Decoded decode(const IfBlock& if_block, const std::string& base, const std::string& delta, std::size_t piece = 0,
                      const DecoderLimits& limits = {}) {
    MemoryBase memory(as_bytes(base));
    StringSink out;
    const auto decoder = make_decoder(if_block, memory, limits, out);
    Decoded result;
    Bytes rest = as_bytes(delta);
    while (!rest.empty() && result.status == Status::ok) {
        const Bytes part = rest.first(piece == 0 ? rest.size() : std::min(piece, rest.size()));
        result.status = decoder->push(part);
        rest = rest.subspan(part.size());
    }
    const Status end = decoder->finish();
    if (result.status == Status::ok) result.status = end;
    ck_assert(end == result.status);
    result.instance = out.take();
    result.stats = decoder->stats();
    return result;
}

inline void expect_text(const std::string& got, const std::string& want) {
    ck_assert_msg(got == want, "'%s' instead of '%s'", got.c_str(), want.c_str());
}

inline void expect_same(const std::string& got, const std::string& want) {
    ck_assert_uint_eq(got.size(), want.size());
    ck_assert_msg(got == want, "same length, other bytes");
}

// The delta from `base` to `page`, decoded again and compared.
inline std::string round_trip(const std::string& base, const std::string& page, std::uint32_t blocks) {
    const IfBlock if_block = signature(base, blocks);
    std::string made = delta(if_block, page);
    const Decoded decoded = decode(if_block, base, made);
    ck_assert_msg(decoded.status == Status::ok, "%s", name(decoded.status));
    expect_same(decoded.instance, page);
    return made;
}

}  // namespace samples
