// The strong hash over an instance, through OpenSSL's EVP.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "bytes.h"

namespace crcsync {

inline constexpr std::size_t sha1_size = 20;
using Sha1Value = std::array<std::uint8_t, sha1_size>;

// SHA-1, which protocol 1 prescribes: it guards against accidents and CRC collisions, not against a hostile origin.
// Not thread-safe; one object for one stream. The constructor throws std::runtime_error if OpenSSL has no SHA-1.
class Sha1 {
public:
    Sha1();
    ~Sha1();
    Sha1(Sha1&&) noexcept;
    Sha1& operator=(Sha1&&) noexcept;

    void update(Bytes data);

    // The hash of all data so far; ends the stream: nothing may follow.
    Sha1Value finish();

private:
    struct Context;
    std::unique_ptr<Context> context_;
};

Sha1Value sha1(Bytes data);

}  // namespace crcsync
