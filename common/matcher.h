// The streaming matcher: finds the base's blocks in the new instance, greedily from left to right.
//
// At each end position the normal window is looked up first. A window never reaches back over a match. The last block
// is longer than the others (unless the size divides exactly, then it is one of them) and is looked for in two places,
// where nearly all of its matches are: right after block N-2, and at the end of the instance.
//
// Bytes that may still be part of a match wait in a buffer: at most the last block's length between calls, and one step
// of input more during one. All that is decided goes to the listener at once.
#pragma once

#include <cstdint>
#include <vector>

#include "bytes.h"
#include "hash_index.h"
#include "if_block.h"
#include "rolling_scan.h"

namespace crcsync {

// Takes the matcher's findings in the order of the instance. Bytes are valid during the call only. False stops the
// matcher, as in Sink.
class MatchListener {
public:
    virtual ~MatchListener() = default;
    [[nodiscard]] virtual bool literal(Bytes bytes) = 0;
    [[nodiscard]] virtual bool block(std::uint32_t number, std::uint64_t length) = 0;
};

// Not thread-safe. Both arguments must outlive the matcher.
class Matcher {
public:
    Matcher(const IfBlock& if_block, MatchListener& listener);

    // The next piece of the instance, of any size. False when the listener stopped; nothing may follow then.
    [[nodiscard]] bool push(Bytes piece);

    // Hands out what is decided; less than one normal block stays. A last block that ends here is found too: a FLUSH
    // often stands just before the end of the instance.
    [[nodiscard]] bool flush();

    // The instance is complete.
    [[nodiscard]] bool finish();

private:
    void drop_decided();
    [[nodiscard]] bool scan();
    [[nodiscard]] bool match(std::size_t window, std::uint32_t block);
    [[nodiscard]] bool try_last_at(std::size_t window, bool& matched);
    [[nodiscard]] bool release(std::size_t end);
    std::uint32_t choose(std::uint64_t crc) const;
    std::size_t held() const { return buffer_.size(); }

    const IfBlock& if_block_;
    MatchListener& listener_;
    std::uint64_t normal_;
    std::uint64_t last_;
    bool separate_last_;  // the last block is longer than the others
    HashIndex index_;
    RollingScan scan_;

    // All offsets count from the start of buffer_.
    std::vector<std::uint8_t> buffer_;
    std::size_t undecided_ = 0;       // first byte that the listener has not had; windows begin here or later
    std::size_t window_ = 0;          // start of the window that crc_ belongs to
    bool have_window_ = false;        // false: fewer bytes than a block since the last match
    bool after_second_last_ = false;  // undecided_ is where a match of block N-2 ended, and the last may follow there
    std::uint64_t crc_ = 0;
    std::uint32_t expected_ = 0;  // the block after the one that matched last
};

}  // namespace crcsync
