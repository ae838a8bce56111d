// The rolling scan: the CRC of every window of one block's length, looked up among the hashes of the base.
//
// From one window to the next, one byte enters and one leaves. With the CRC's linearity that is
//
//     crc' = table[(crc ^ entering) & 255] ^ (crc >> 8) ^ leaving_table[leaving]
//
// where leaving_table[b] is the CRC of b followed by a whole block of zero bytes.
//
// Each step waits for the one before. So long stretches are cut into four lanes that run side by side, and the
// processor overlaps them. The seam for faster kernels is here: what a kernel has to do is advance().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hash_index.h"

namespace crcsync {

class RollingScan {
public:
    // Windows of `block` bytes (at least 1), looked up in `index`, which must outlive the scan.
    RollingScan(std::uint64_t block, const HashIndex& index);

    // `crc` is that of the window at `data`, which has been looked up already. Looks up the windows at data + 1 to
    // data + count; data + count + block must not pass the end of the buffer. Returns the first that the index holds,
    // as an offset from `data`, with its CRC in `crc`; or 0, with the CRC of the window at data + count in `crc`.
    std::size_t advance(const std::uint8_t* data, std::size_t count, std::uint64_t& crc) const;

private:
    static constexpr std::size_t lanes = 4;

    std::uint64_t step(std::uint64_t crc, const std::uint8_t* leaving) const;
    std::size_t advance_one_lane(const std::uint8_t* data, std::size_t count, std::uint64_t& crc) const;
    std::size_t advance_four_lanes(const std::uint8_t* data, std::size_t count, std::uint64_t& crc) const;

    std::uint64_t block_;
    const HashIndex& index_;
    std::uint64_t x_block_;  // x to the 8 * block: what a block of zero bytes multiplies a CRC by
    std::array<std::uint64_t, 256> leaving_table_;
};

}  // namespace crcsync
