// Slicing by 16: sixteen table look-ups that do not wait for each other replace sixteen that do.
//
// The bytewise loop is crc = table[(crc ^ byte) & 255] ^ (crc >> 8): each look-up needs the one before. But the CRC is
// linear, so the effect of byte i of a group of 16 can be looked up by itself in a table that has the remaining bytes'
// shifts built in: tables[k][b] is the CRC of byte b followed by k zero bytes. The old CRC covers just the first eight
// bytes of the group. (Kounavis and Berry, "A Systematic Approach to Building High Performance Software-based CRC
// Generators", 2005.)

#include "crc64_slicing.h"

#include <array>
#include <bit>
#include <cstring>

#include "polynomial.h"

namespace crcsync {

namespace {

constexpr std::size_t slices = 16;

constexpr auto make_tables() {
    std::array<std::array<std::uint64_t, 256>, slices> tables{};
    tables[0] = polynomial::crc_of_byte;
    for (std::size_t k = 1; k < slices; ++k) {
        for (unsigned b = 0; b < 256; ++b) {
            const std::uint64_t before = tables[k - 1][b];
            tables[k][b] = (before >> 8) ^ tables[0][before & 255];
        }
    }
    return tables;
}

constexpr auto tables = make_tables();

// Eight bytes, the first in the low bits, whatever the machine's own order.
std::uint64_t load(const std::uint8_t* data) {
    std::uint64_t word = 0;
    std::memcpy(&word, data, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    return word;
}

// The eight bytes of `word`, of which the first is followed by `first` more bytes of the group.
std::uint64_t look_up(std::uint64_t word, std::size_t first) {
    std::uint64_t crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= tables[first - i][(word >> (8 * i)) & 255];
    return crc;
}

}  // namespace

std::uint64_t crc64_slicing(std::uint64_t crc, const std::uint8_t* data, std::size_t size) {
    for (; size >= slices; data += slices, size -= slices) {
        crc = look_up(crc ^ load(data), 15) ^ look_up(load(data + 8), 7);
    }
    for (; size > 0; ++data, --size) crc = tables[0][(crc ^ *data) & 255] ^ (crc >> 8);
    return crc;
}

}  // namespace crcsync
