// The portable CRC-64 kernel: slicing by 16.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crcsync {

std::uint64_t crc64_slicing(std::uint64_t crc, const std::uint8_t* data, std::size_t size);

}  // namespace crcsync
