// The whole way: a page through encoder and decoder, cut and flushed anyhow, is the page again, and the delta is the
// one that the cuts must not change. With hashes that are not the base's, it is the page again or known to be wrong.
//
// Input: options, cuts for both sides, then how base and page are put together: pieces of the input, of what is there
// already, of the base, runs of a byte, noise.
#include <zlib.h>

#include <random>

#include "decoder.h"
#include "encoder.h"
#include "signature.h"
#include "target.h"

using namespace crcsync;
using fuzz::Input;

namespace {

constexpr std::size_t max_page = 140'000;

// A length of up to 64 KiB. Most kinds of a step ask for less: long pages are slow.
std::size_t length(Input& input, std::uint8_t kind) {
    return input.number16() >> kind / 7 % 16;
}

std::string part_of(const std::string& text, Input& input, std::uint8_t kind) {
    const std::size_t at = input.number16();
    const std::size_t size = length(input, kind);
    return text.empty() ? text : text.substr(at % text.size(), size);
}

// `count` steps of building; a step is a kind, and what that needs.
std::string build(Input& input, std::size_t count, const std::string& base, std::uint32_t blocks) {
    std::string page;
    for (std::size_t i = 0; i < count && !input.empty() && page.size() < max_page; ++i) {
        const std::uint8_t kind = input.byte();
        switch (kind % 7) {
            case 0: page += as_text(input.bytes(kind / 7 + 1U)); break;
            case 1: page.append(length(input, kind), static_cast<char>(kind)); break;
            case 2: {
                std::minstd_rand random(input.byte() + 1U);
                for (std::size_t left = length(input, kind); left > 0; --left) page += static_cast<char>(random() >> 8);
                break;
            }
            case 3: page += part_of(page, input, kind); break;
            case 4: page += part_of(base, input, kind); break;
            case 5:
                if (!base.empty()) {  // whole blocks, from this one on
                    const BlockLayout layout{base.size(), blocks};
                    const std::uint32_t first = input.byte() % blocks;
                    const std::uint32_t last = std::min<std::uint32_t>(first + input.byte() % 32U, blocks - 1);
                    page += base.substr(layout.offset(first),
                                        layout.offset(last) + layout.length(last) - layout.offset(first));
                }
                break;
            default:
                if (!page.empty()) page[input.number16() % page.size()] ^= static_cast<char>(kind / 7 + 1);
        }
    }
    page.resize(std::min(page.size(), max_page));
    return page;
}

std::string encode(const IfBlock& if_block, const EncoderOptions& options, const std::string& page, fuzz::Cuts* cuts,
                   EncoderStats& stats) {
    StringSink out;
    const auto encoder = make_encoder(if_block, options, out);
    Bytes rest = as_bytes(page);
    while (!rest.empty()) {
        const Bytes piece = cuts != nullptr ? cuts->next(rest) : std::exchange(rest, Bytes{});
        FUZZ_CHECK(encoder->push(piece) == Status::ok);
    }
    FUZZ_CHECK(encoder->finish() == Status::ok);
    stats = encoder->stats();
    FUZZ_CHECK(stats.instance_bytes == page.size() && stats.delta_bytes == out.text().size());
    return out.take();
}

std::size_t zlib_size(const std::string& page, int level) {
    uLongf size = compressBound(page.size());
    std::string out(size, '\0');
    FUZZ_CHECK(compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(page.data()),
                         page.size(), level) == Z_OK);
    return size;
}

// Encodes with a flush after some of the pieces, and decodes at once what has come.
void flush_on_the_way(const IfBlock& if_block, const EncoderOptions& options, const std::string& base,
                      const std::string& page, fuzz::Cuts& cuts, std::uint8_t when, bool honest) {
    MemoryBase memory(as_bytes(base));
    StringSink wire;
    fuzz::BoundedSink reader(honest ? page.size() : UINT64_MAX);
    const auto encoder = make_encoder(if_block, options, wire);
    const auto decoder = make_decoder(if_block, memory, {}, reader);
    Bytes rest = as_bytes(page);
    for (unsigned turn = 0; !rest.empty(); ++turn) {
        FUZZ_CHECK(encoder->push(cuts.next(rest)) == Status::ok);
        if ((when >> turn % 8 & 1) == 0) continue;
        FUZZ_CHECK(encoder->flush() == Status::ok);
        FUZZ_CHECK(decoder->push(as_bytes(wire.take())) == Status::ok);
        if (honest) {
            const std::size_t pushed = page.size() - rest.size();
            FUZZ_CHECK(pushed - reader.text().size() < if_block.layout.normal());
            FUZZ_CHECK(page.compare(0, reader.text().size(), reader.text()) == 0);
        }
    }
    FUZZ_CHECK(encoder->finish() == Status::ok);
    FUZZ_CHECK(decoder->push(as_bytes(wire.take())) == Status::ok);
    const Status status = decoder->finish();
    FUZZ_CHECK(status == Status::ok || (!honest && status == Status::hash_mismatch));
    FUZZ_CHECK(status != Status::ok || reader.text() == page);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input(data, size);
    const std::uint8_t flags = input.byte();
    const std::uint8_t flush_when = input.byte();
    const std::uint32_t wanted_blocks = input.byte() + 1U;
    EncoderOptions options;
    options.compression_level = flags % 10;
    const bool usual = (flags & 16) != 0;
    if (!usual) options.buffer_size = input.number16();
    fuzz::Cuts encoder_cuts(input);
    fuzz::Cuts decoder_cuts(input);
    const std::string base = build(input, input.byte() % 32U, {}, 1);
    if (base.empty()) return 0;
    const auto blocks = static_cast<std::uint32_t>(std::min<std::size_t>(wanted_blocks, base.size()));
    IfBlock if_block;
    MemoryBase memory(as_bytes(base));
    FUZZ_CHECK(make_signature(memory, blocks, if_block) == Status::ok);
    const bool honest = (flags & 32) == 0;
    if (!honest) {  // a run of zero bytes has this hash, whatever its length
        for (std::uint64_t& hash : if_block.hashes) hash = input.byte() % 2 == 0 ? 0 : hash;
    }
    const std::string page = build(input, 200, base, blocks);

    EncoderStats stats;
    EncoderStats cut_stats;
    const std::string delta = encode(if_block, options, page, nullptr, stats);
    FUZZ_CHECK(encode(if_block, options, page, &encoder_cuts, cut_stats) == delta);
    FUZZ_CHECK(cut_stats.literal_bytes == stats.literal_bytes && cut_stats.blocks == stats.blocks);
    if (usual && stats.blocks == 0 && options.compression_level > 0) {
        const std::size_t stream = zlib_size(page, options.compression_level);
        FUZZ_CHECK(delta.size() <= stream + stream / 100 + 64);
    }

    fuzz::BoundedSink reader(honest ? page.size() : UINT64_MAX);
    const auto decoder = make_decoder(if_block, memory, {}, reader);
    Bytes rest = as_bytes(delta);
    while (!rest.empty()) FUZZ_CHECK(decoder->push(decoder_cuts.next(rest)) == Status::ok);
    const Status status = decoder->finish();
    FUZZ_CHECK(status == Status::ok || (!honest && status == Status::hash_mismatch));
    FUZZ_CHECK(status != Status::ok || reader.text() == page);

    if (flush_when != 0) flush_on_the_way(if_block, options, base, page, encoder_cuts, flush_when, honest);
    return 0;
}
