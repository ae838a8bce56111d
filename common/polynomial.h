// Arithmetic in GF(2)[x] modulo the CRC-64-ISO polynomial P = x^64 + x^4 + x^3 + x + 1.
//
// Values are reflected, as the CRC is: bit 63 is x^0, bit 0 is x^63. The CRC of n bytes is their polynomial times
// x^64, modulo P; so appending n zero bytes to a message multiplies its CRC by x^(8n). That is all that is needed
// to roll a window: crc(window moved by one) = crc(window) * x^8 + crc(new byte) + crc(old byte) * x^(8 * block).
//
// Everything is constexpr and bit-serial or table-free: it runs a few times for each request, never for each byte.
#pragma once

#include <array>
#include <cstdint>

namespace crcsync::polynomial {

inline constexpr std::uint64_t modulus = 0xD800000000000000U;  // P without x^64, reflected
inline constexpr std::uint64_t one = 1ULL << 63;               // x^0

constexpr std::uint64_t times_x(std::uint64_t a) {
    return (a >> 1) ^ ((a & 1) != 0 ? modulus : 0);
}

constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    for (; b != 0; b <<= 1) {
        if ((b & one) != 0) product ^= a;
        a = times_x(a);
    }
    return product;
}

// x^n modulo P.
constexpr std::uint64_t x_to_the(std::uint64_t n) {
    std::uint64_t result = one;
    std::uint64_t power = times_x(one);
    for (; n != 0; n >>= 1) {
        if ((n & 1) != 0) result = multiply(result, power);
        power = multiply(power, power);
    }
    return result;
}

// table[b] is the CRC of the single byte b.
constexpr std::array<std::uint64_t, 256> byte_table() {
    std::array<std::uint64_t, 256> table{};
    for (unsigned b = 0; b < 256; ++b) {
        std::uint64_t crc = b;
        for (int bit = 0; bit < 8; ++bit) crc = times_x(crc);
        table[b] = crc;
    }
    return table;
}

inline constexpr auto crc_of_byte = byte_table();

}  // namespace crcsync::polynomial
