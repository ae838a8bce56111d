// The set of block hashes that the scan looks for, with a filter in front.
//
// Nearly every look-up finds nothing, once for each byte of the page. So the first question goes to a bitmap of 8 KiB
// that stays in the first-level cache: one bit for each value of a hash's top 16 bits. At 256 blocks it lets one
// look-up in 256 through to the table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "block_layout.h"

namespace crcsync {

class HashIndex {
public:
    // Indexes hashes[0], hashes[1], ...; at most max_blocks of them.
    explicit HashIndex(std::span<const std::uint64_t> hashes);

    // False means that `hash` is not in the set.
    bool may_contain(std::uint64_t hash) const {
        const std::uint64_t top = hash >> (64 - filter_bits);
        return ((filter_[top >> 6] >> (top & 63)) & 1) != 0;
    }

    // The lowest block with that hash.
    std::optional<std::uint32_t> find(std::uint64_t hash) const;

private:
    static constexpr unsigned filter_bits = 16;
    static constexpr std::size_t slots = 4 * std::size_t{max_blocks};  // open addressing, at most a quarter full

    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t block_plus_1 = 0;  // 0: free
    };

    // A peer chooses the hashes; a multiplication spreads those that share their low bits. Ones that are made to
    // collide cost at most max_blocks steps.
    static std::size_t slot_of(std::uint64_t hash) { return (hash * 0x9E3779B97F4A7C15U) >> 54 & (slots - 1); }

    std::array<std::uint64_t, (1U << filter_bits) / 64> filter_{};
    std::array<Slot, slots> table_{};
};

}  // namespace crcsync
