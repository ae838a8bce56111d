// The client's side of a delta, whatever the protocol version: the delta goes in, in pieces of any size, and the
// new instance comes out of a sink, unverified until finish() has said ok.
//
// Memory is bounded by a constant of about 100 KiB. Not thread-safe; one object for one response.
#pragma once

#include <cstdint>
#include <memory>

#include "base.h"
#include "bytes.h"
#include "if_block.h"
#include "status.h"

namespace crcsync {

struct DecoderLimits {
    std::uint64_t max_instance =
        1ULL << 30;  // bytes that the whole delta may expand to, and, with some more, that it may take
};

struct DecoderStats {
    std::uint64_t instance_bytes = 0;       // written to the sink
    std::uint64_t literal_bytes = 0;        // of these, from literals
    std::uint64_t literal_delta_bytes = 0;  // what those literals took in the delta
    std::uint64_t delta_bytes = 0;          // taken in
    std::uint64_t blocks = 0;               // copied from the base
    std::uint64_t sections = 0;             // read to their ends
};

class Decoder {
public:
    virtual ~Decoder() = default;

    // The next piece of the delta. Anything but Status::ok is final: the instance so far is worthless.
    [[nodiscard]] virtual Status push(Bytes piece) = 0;

    // The delta is complete. Status::ok only if it was well-formed and the strong hash is that of the output.
    [[nodiscard]] virtual Status finish() = 0;

    virtual DecoderStats stats() const = 0;
};

// The decoder for if_block.version, or null if there is none. Of `if_block` only version and layout matter; the
// layout must be that of `base`. `base` and `sink` must outlive the decoder.
std::unique_ptr<Decoder> make_decoder(const IfBlock& if_block, Base& base, const DecoderLimits& limits, Sink& sink);

}  // namespace crcsync
