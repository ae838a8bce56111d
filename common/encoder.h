// The server's side of a delta, whatever the protocol version: the new instance goes in, in pieces of any size, and
// the delta comes out of a sink as soon as it is decided.
//
// Memory is bounded by the block size that If-Block asks for (checked when the field is parsed) and by
// EncoderOptions::buffer_size, never by the body. Not thread-safe; one object for one response.
#pragma once

#include <cstdint>
#include <memory>

#include "bytes.h"
#include "if_block.h"
#include "status.h"

namespace crcsync {

struct EncoderOptions {
    std::size_t buffer_size = 64 * 1024;  // bytes of literals on which literal or compressed is decided; at least 1
    int compression_level = 6;            // zlib's, 1 to 9; 0: literals are never compressed
};

struct EncoderStats {
    std::uint64_t instance_bytes = 0;  // pushed so far
    std::uint64_t literal_bytes = 0;   // of these, not found in the base (decided ones only)
    std::uint64_t delta_bytes = 0;     // written to the sink
    std::uint64_t blocks = 0;          // matches
};

class Encoder {
public:
    virtual ~Encoder() = default;

    // The next piece of the instance. Without flush() the delta does not depend on how the instance is cut.
    [[nodiscard]] virtual Status push(Bytes piece) = 0;

    // Sends all that is decided, so that the other side can rebuild it now. Less than one normal block may wait.
    [[nodiscard]] virtual Status flush() = 0;

    // The instance is complete: writes the rest and the strong hash. Nothing may follow.
    [[nodiscard]] virtual Status finish() = 0;

    virtual EncoderStats stats() const = 0;
};

// The encoder for if_block.version, or null if there is none. `sink` must outlive the encoder. Takes microseconds:
// large buffers are allocated when they are needed.
std::unique_ptr<Encoder> make_encoder(const IfBlock& if_block, const EncoderOptions& options, Sink& sink);

}  // namespace crcsync
