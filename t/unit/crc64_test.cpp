// CRC-64-ISO: every kernel against a bit-serial reference that shares nothing with them.
#include "crc64.h"

#include "polynomial.h"
#include "samples.h"
#include "suite.h"

using namespace crcsync;

namespace {

// Straight from the definition: one bit at a time, reflected, initial value 0, no final xor.
std::uint64_t reference(std::uint64_t crc, Bytes data) {
    for (const std::uint8_t byte : data) {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xD800000000000000U : crc >> 1;
    }
    return crc;
}

START_TEST(the_check_value) {
    ck_assert_uint_eq(reference(0, as_bytes("123456789")), 0x46a5a9388a5beffeU);
    for (const Crc64Kernel& kernel : crc64_kernels()) {
        if (!kernel.usable()) continue;
        const Bytes check = as_bytes("123456789");
        ck_assert_msg(kernel.update(0, check.data(), check.size()) == 0x46a5a9388a5beffeU, "%s", kernel.name);
    }
    ck_assert_uint_eq(crc64(0, as_bytes("123456789")), 0x46a5a9388a5beffeU);
}
END_TEST

START_TEST(every_offset_and_length) {
    const std::string bytes = samples::noise(16 + 2048, 1);
    for (const Crc64Kernel& kernel : crc64_kernels()) {
        if (!kernel.usable()) continue;
        for (std::size_t offset = 0; offset < 16; ++offset) {
            std::uint64_t expected = 0;
            for (std::size_t length = 0; length <= 2048; ++length) {
                const Bytes data = as_bytes(bytes).subspan(offset, length);
                if (length > 0) expected = reference(expected, data.last(1));
                ck_assert_msg(kernel.update(0, data.data(), length) == expected, "%s: offset %zu, length %zu",
                              kernel.name, offset, length);
            }
        }
    }
}
END_TEST

START_TEST(chaining) {
    const std::string bytes = samples::noise(700, 2);
    const Bytes data = as_bytes(bytes);
    const std::uint64_t whole = reference(0, data);
    for (const Crc64Kernel& kernel : crc64_kernels()) {
        if (!kernel.usable()) continue;
        for (std::size_t cut = 0; cut <= data.size(); ++cut) {
            const std::uint64_t first = kernel.update(0, data.data(), cut);
            ck_assert(kernel.update(first, data.data() + cut, data.size() - cut) == whole);
        }
    }
}
END_TEST

START_TEST(the_dispatch_takes_a_usable_kernel) {
    ck_assert(crc64_kernels().front().usable());
    ck_assert(crc64_kernel().usable());
    ck_assert_uint_eq(crc64(0, {}), 0);
}
END_TEST

START_TEST(zero_bytes_multiply_by_x) {
    const std::string bytes = samples::noise(100, 3);
    const std::uint64_t crc = crc64(0, as_bytes(bytes));
    for (const std::size_t zeros : {0, 1, 7, 8, 63, 1000, 65536}) {
        const std::string longer = bytes + std::string(zeros, '\0');
        ck_assert_uint_eq(crc64(0, as_bytes(longer)), polynomial::multiply(crc, polynomial::x_to_the(8 * zeros)));
    }
    ck_assert_uint_eq(polynomial::multiply(crc, polynomial::one), crc);
    ck_assert_uint_eq(polynomial::multiply(crc, polynomial::times_x(polynomial::one)), polynomial::times_x(crc));
}
END_TEST

}  // namespace

int main() {
    return run_suite("crc64", {the_check_value, every_offset_and_length, chaining, the_dispatch_takes_a_usable_kernel,
                               zero_bytes_multiply_by_x});
}
