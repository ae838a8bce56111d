// CRC-64-ISO as the protocol uses it: polynomial x^64 + x^4 + x^3 + x + 1, reflected (0xD800000000000000),
// initial value 0, no final xor. Check value of "123456789": 46a5a9388a5beffe.
//
// Initial value 0 makes the CRC linear: crc(a ^ b) = crc(a) ^ crc(b), and leading zero bytes change nothing. The
// rolling scan lives on that. It also means that the CRC tells nothing about leading zeros; the strong hash does.
//
// Source: ISO 3309 (HDLC) for the polynomial; crcsync protocol 1 for the convention.
#pragma once

#include <cstdint>
#include <span>

#include "bytes.h"

namespace crcsync {

// Continues `crc` over `data`; start with 0. crc64(crc64(0, a), b) is the CRC of a followed by b. Any length, any
// alignment. Thread-safe.
std::uint64_t crc64(std::uint64_t crc, Bytes data);

// One implementation, for tests and benchmarks; crc64() calls the best one that the processor can run.
struct Crc64Kernel {
    const char* name;
    bool (*usable)();
    std::uint64_t (*update)(std::uint64_t crc, const std::uint8_t* data, std::size_t size);
};

// All kernels that this build holds, best last; the first is portable and always usable.
std::span<const Crc64Kernel> crc64_kernels();

// The kernel that crc64() uses. Chosen once, thread-safe.
const Crc64Kernel& crc64_kernel();

}  // namespace crcsync
