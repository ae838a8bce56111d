// The base as the client holds it: an instance that can be read at any offset.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "bytes.h"

namespace crcsync {

class Base {
public:
    virtual ~Base() = default;

    virtual std::uint64_t size() const = 0;  // bytes

    // Fills all of `out` from `offset` on. False if the base cannot be read there (an I/O error, a file that
    // shrank); `out` is then undefined.
    [[nodiscard]] virtual bool read(std::uint64_t offset, std::span<std::uint8_t> out) = 0;
};

// A base in memory that somebody else owns and keeps alive.
class MemoryBase final : public Base {
public:
    explicit MemoryBase(Bytes bytes) : bytes_(bytes) {}
    std::uint64_t size() const override { return bytes_.size(); }
    bool read(std::uint64_t offset, std::span<std::uint8_t> out) override {
        if (offset > bytes_.size() || out.size() > bytes_.size() - offset) return false;
        if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
        return true;
    }

private:
    Bytes bytes_;
};

}  // namespace crcsync
