#include "crc64.h"

#include <array>

#include "crc64_slicing.h"

namespace crcsync {

namespace {

constexpr std::array kernels = {
    Crc64Kernel{"slicing", [] { return true; }, crc64_slicing},
};

}  // namespace

std::span<const Crc64Kernel> crc64_kernels() {
    return kernels;
}

const Crc64Kernel& crc64_kernel() {
    static const Crc64Kernel& best = []() -> const Crc64Kernel& {
        const Crc64Kernel* chosen = &kernels.front();
        for (const Crc64Kernel& kernel : kernels) {
            if (kernel.usable()) chosen = &kernel;
        }
        return *chosen;
    }();
    return best;
}

std::uint64_t crc64(std::uint64_t crc, Bytes data) {
    return crc64_kernel().update(crc, data.data(), data.size());
}

}  // namespace crcsync
