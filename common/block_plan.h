// The client's plan: into how many blocks a base is cut, and whether If-Block is worth sending at all.
//
// A page that changes everywhere costs more with deltas than without: the field goes up, and what comes down is the
// whole page in pieces. So the client counts, for each URL, what request and delta cost against what the plain
// response would have cost, backs off where that does not pay, and tries again later.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crcsync {

struct BlockPlanOptions {
    std::uint32_t blocks = 0;      // 0: follow the size of the page; else this many
    std::size_t max_field = 2400;  // bytes that the If-Block field line may take
};

// Our own client's blocks are never shorter: the hash of a short block gives its bytes away.
inline constexpr std::uint64_t min_block_size = 64;

// Number of blocks for a base of `size` bytes; 0 if it is too small to be cut at all, or the field too long.
// Automatic: about sqrt(size) / 3, the number at which hashes and the literals around a change cost about the same.
std::uint32_t plan_blocks(std::uint64_t size, const BlockPlanOptions& options);

// What a URL's last fetches have taught. A plain value of 8 bytes, so that it can be kept beside a base or in shared
// memory; all-zero is a URL that nothing is known of. Any bit pattern is a valid state.
struct DeltaHistory {
    std::uint16_t plain_permille = 0;  // cost of a plain response in 1/1000 of the instance's size; 0: unknown
    std::uint8_t halvings = 0;         // the number of blocks is divided by 2 to this power
    std::uint8_t pause = 0;            // fetches still to go without If-Block
    std::uint8_t last_pause = 0;       // the length of the next pause, if there has to be one
    std::uint8_t reserved[3] = {};

    // The number of blocks for the next fetch, from plan_blocks(); 0: send no If-Block this time. Counts a pause down,
    // so call it once for each fetch.
    std::uint32_t next_blocks(std::uint32_t planned);

    // A plain response of `instance` bytes took `wire` body bytes.
    void plain(std::uint64_t wire, std::uint64_t instance);

    // If-Block was answered in full: it brought nothing, and kept the response from being compressed perhaps.
    void refused();

    // A delta took `request` bytes up and `wire` bytes down. Of the instance, `literal_bytes` came as literals that
    // took `literal_wire` bytes: how well the page compresses, where no plain response has shown it.
    void delta(std::uint64_t request, std::uint64_t wire, std::uint64_t instance, std::uint64_t literal_bytes,
               std::uint64_t literal_wire);
};
static_assert(sizeof(DeltaHistory) == 8);

}  // namespace crcsync
