// The decoders: a delta that a peer made up, in arbitrary pieces, is decoded to what a second reader says it means, or
// refused; it never grows beyond the limit, and never counts as right with another strong hash than the output's.
//
// Input: options, cuts, the base with its length in front, then the delta. As chance makes no zlib stream and no hash,
// the delta may also be given as a list of sections, from which it is put together, and have its hash put right.
#include "decoder.h"

#include <zlib.h>

#include "digest.h"
#include "reference_reader.h"
#include "target.h"

using namespace crcsync;
using fuzz::Input;

namespace {

// The versions whose decoders this target knows a second reader for.
constexpr unsigned versions[] = {1};

// A base that fails after some bytes, as a file on a broken disk does.
class FailingBase final : public Base {
public:
    FailingBase(Bytes bytes, std::uint64_t readable) : memory_(bytes), left_(readable) {}
    std::uint64_t size() const override { return memory_.size(); }
    bool read(std::uint64_t offset, std::span<std::uint8_t> out) override {
        FUZZ_CHECK(!failed_ && out.size() <= size() && offset <= size() - out.size());
        failed_ = out.size() > left_;
        left_ -= failed_ ? 0 : out.size();
        return !failed_ && memory_.read(offset, out);
    }
    bool failed() const { return failed_; }

private:
    MemoryBase memory_;
    std::uint64_t left_;
    bool failed_ = false;
};

void append_length(std::string& delta, std::size_t length) {
    for (int shift = 24; shift >= 0; shift -= 8) delta += static_cast<char>(length >> shift);
}

// Puts a delta together: each section is an identifier, a length or number, and what that needs.
std::string assemble(Input& input) {
    std::string delta;
    while (!input.empty()) {
        const std::uint8_t id = input.byte();
        const std::uint8_t number = input.byte();
        switch (id % 5) {
            case 0:
                delta += 'B';
                delta += static_cast<char>(number);
                break;
            case 1: {
                const Bytes literal = input.bytes(number);
                delta += 'L';
                append_length(delta, literal.size());
                delta += as_text(literal);
                break;
            }
            case 2: {
                // Each byte stands for a run of it, so that a stream can be longer than the buffers inside.
                std::string text;
                const std::size_t run = id / 5 * 10U + 1;
                for (const std::uint8_t byte : input.bytes(number)) text.append(run, static_cast<char>(byte));
                uLongf size = compressBound(text.size());
                std::string stream(size, '\0');
                FUZZ_CHECK(compress2(reinterpret_cast<Bytef*>(stream.data()), &size,
                                     reinterpret_cast<const Bytef*>(text.data()), text.size(), number % 10) == Z_OK);
                delta += 'Z';
                delta.append(stream, 0, size);
                break;
            }
            case 3: delta += as_text(input.bytes(number)); break;  // as it stands
            default:                                               // a bit of what is there already is turned over
                if (!delta.empty()) {
                    char& byte = delta[delta.size() - 1 - number % delta.size()];
                    byte = static_cast<char>(byte ^ (1 << id / 5 % 8));
                }
        }
    }
    return delta;
}

struct Decoded {
    Status status;
    std::string instance;
    DecoderStats stats;
};

template <class Next>
Decoded decode(const IfBlock& if_block, Base& base, std::uint64_t limit, fuzz::BoundedSink& sink,
               std::string_view delta, Next&& next) {
    const auto decoder = make_decoder(if_block, base, DecoderLimits{limit}, sink);
    FUZZ_CHECK(decoder != nullptr);
    Status status = Status::ok;
    Bytes rest = as_bytes(delta);
    while (status == Status::ok && !rest.empty()) status = decoder->push(next(rest));
    const Status end = decoder->finish();
    FUZZ_CHECK(status == Status::ok || end == status);
    FUZZ_CHECK(decoder->stats().instance_bytes == sink.text().size());
    FUZZ_CHECK(end != Status::ok || decoder->stats().delta_bytes == delta.size());
    return {end, sink.text(), decoder->stats()};
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input(data, size);
    const std::uint8_t options = input.byte();
    const std::uint8_t blocks = input.byte();
    const std::uint64_t limit = (options & 1) != 0 ? input.number16() : 1U << 17;
    const std::uint64_t refuse_at = (options & 2) != 0 ? input.number16() : UINT64_MAX;
    const std::uint64_t readable = (options & 4) != 0 ? input.number16() : UINT64_MAX;
    fuzz::Cuts cuts(input);
    const Bytes base = input.bytes(std::max<std::uint32_t>(input.number16(), 1));
    if (base.empty()) return 0;
    std::string delta = (options & 8) != 0 ? assemble(input) : std::string(as_text(input.rest()));

    IfBlock if_block;
    if_block.version = versions[0];
    if_block.layout = {base.size(), static_cast<std::uint32_t>(std::min<std::size_t>(blocks + 1, base.size()))};
    if ((options & 16) != 0) {
        const auto meant = fuzz::read_delta(delta, as_text(base), if_block.layout, limit);
        if (meant.well_formed && !meant.expected) {
            const Sha1Value hash = sha1(as_bytes(meant.instance));
            delta.append("S").append(as_text(hash));
        }
    }

    const auto meant = fuzz::read_delta(delta, as_text(base), if_block.layout, limit);
    MemoryBase good(base);
    fuzz::BoundedSink all(limit);
    const Decoded whole =
        decode(if_block, good, limit, all, delta, [](Bytes& rest) { return std::exchange(rest, Bytes{}); });
    FUZZ_CHECK((whole.status == Status::ok) == meant.right());
    FUZZ_CHECK(whole.status != Status::hash_mismatch || meant.well_formed);
    if (whole.status == Status::ok) FUZZ_CHECK(whole.instance == meant.instance);

    FailingBase failing(base, readable);
    fuzz::BoundedSink pieces(limit, refuse_at);
    const Decoded cut = decode(if_block, failing, limit, pieces, delta, [&](Bytes& rest) { return cuts.next(rest); });
    if (failing.failed()) {
        FUZZ_CHECK(cut.status == Status::base_failed);
    } else if (pieces.refused()) {
        FUZZ_CHECK(cut.status == Status::sink_failed);
    } else {
        FUZZ_CHECK(cut.status == whole.status);
        FUZZ_CHECK(cut.status != Status::ok || cut.instance == whole.instance);
        FUZZ_CHECK(cut.status != Status::ok ||
                   (cut.stats.literal_bytes == whole.stats.literal_bytes &&
                    cut.stats.literal_delta_bytes == whole.stats.literal_delta_bytes &&
                    cut.stats.blocks == whole.stats.blocks && cut.stats.sections == whole.stats.sections));
    }
    return 0;
}
