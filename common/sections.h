// The section identifiers of a protocol 1 delta.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crcsync::section {

inline constexpr std::uint8_t block = 'B';        // 1 byte block number
inline constexpr std::uint8_t literal = 'L';      // 4 bytes length in network byte order, the bytes
inline constexpr std::uint8_t compressed = 'Z';   // one zlib stream
inline constexpr std::uint8_t strong_hash = 'S';  // 20 bytes SHA-1 of the instance

inline constexpr std::size_t literal_overhead = 5;  // identifier and length

}  // namespace crcsync::section
