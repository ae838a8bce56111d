// Streaming inflate of zlib (RFC 1950), gzip (RFC 1952) and raw deflate (RFC 1951) streams, through zlib, with a
// limit on what may come out.
#pragma once

#include <cstdint>
#include <memory>

#include "bytes.h"
#include "status.h"

namespace crcsync {

class Inflater {
public:
    enum class Format {
        zlib,     // the Z section of a delta
        gzip,     // Content-Encoding: gzip; concatenated members are one body (RFC 1952, section 2.2)
        deflate,  // Content-Encoding: deflate: zlib by RFC 9110, but some origins send raw deflate; both are read
    };

    // `limit` bounds the output of the whole stream, in bytes.
    Inflater(Format format, std::uint64_t limit);
    ~Inflater();
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    // Inflates from the front of `in`, which shrinks by what was consumed, into `out`. Stops at the end of `in`, or,
    // with Format::zlib, at the end of the stream, leaving what follows in `in`. Status::corrupt_delta for bad data,
    // Status::too_large beyond the limit, Status::sink_failed.
    [[nodiscard]] Status push(Bytes& in, Sink& out);

    // True when a stream has ended and nothing of another has begun: the only place where a body may end.
    bool at_end() const;

    std::uint64_t produced() const;

    // Ready for another stream, with a new limit; keeps the memory.
    void reset(std::uint64_t limit);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace crcsync
