// How protocol 1 cuts a base of `size` bytes into `count` blocks: all are floor(size / count) long but the last,
// which takes the remainder too. So the last block is never shorter than the others.
#pragma once

#include <cstdint>

namespace crcsync {

struct BlockLayout {
    std::uint64_t size = 0;   // bytes in the base, > 0
    std::uint32_t count = 0;  // number of blocks, 1 to max_blocks, and no more than size

    std::uint64_t normal() const { return size / count; }
    std::uint64_t last() const { return normal() + size % count; }
    std::uint64_t offset(std::uint32_t block) const { return normal() * block; }
    std::uint64_t length(std::uint32_t block) const { return block + 1 == count ? last() : normal(); }
};

inline constexpr std::uint32_t max_blocks = 256;  // a block number is one byte

}  // namespace crcsync
