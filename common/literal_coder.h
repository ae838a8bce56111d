// Writes runs of literals as L or Z sections, whichever is shorter.
//
// A run is collected up to one buffer. If it ends there, both forms are known and the shorter is written. If it goes
// on, it becomes one zlib stream whatever it is made of: deflate stores what does not compress at hardly any cost, and
// what comes later may repeat what came first. So a page of which nothing matches is one stream and no more. Only a
// flush is judged by itself, since each leaves some bytes in a stream. Deflate is always fed whole buffers, so the
// output does not depend on how the input was cut.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bytes.h"

namespace crcsync {

// Not thread-safe. `sink` must outlive the coder. Memory: one buffer, one compressed buffer, and zlib's 256 KiB, all of
// it only once there are literals to write. False from any function means that the sink stopped.
class LiteralCoder {
public:
    // `buffer_size` in bytes, at least 1; `level` 1 to 9, or 0 for never compressing. Other values are brought into
    // their ranges.
    LiteralCoder(std::size_t buffer_size, int level, Sink& sink);
    ~LiteralCoder();
    LiteralCoder(const LiteralCoder&) = delete;
    LiteralCoder& operator=(const LiteralCoder&) = delete;

    // More literals of the current run.
    [[nodiscard]] bool append(Bytes literals);

    // Makes all literals so far readable for the other side; the run may go on.
    [[nodiscard]] bool flush();

    // A block or the end of the instance follows.
    [[nodiscard]] bool end_run();

private:
    struct Deflate;

    [[nodiscard]] bool full_buffer(bool flush);
    [[nodiscard]] bool write_uncompressed();
    [[nodiscard]] bool write_compressed();
    void start_stream();
    std::size_t uncompressed_size() const;

    std::size_t buffer_size_;
    int level_;
    Sink& sink_;
    std::vector<std::uint8_t> pending_;     // literals that have not been fed to anything
    std::vector<std::uint8_t> compressed_;  // output of deflate on its way to the sink
    std::unique_ptr<Deflate> deflate_;
    bool open_ = false;  // a Z section is open: its identifier has been written, its stream has not ended
};

}  // namespace crcsync
