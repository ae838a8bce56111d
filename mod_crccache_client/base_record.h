// What is kept beside a base's bytes: one line of text, in a header field of the store's entity. A disk, a hand or
// another version may have changed it: any bytes are valid input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "digest.h"

namespace crcsync::client {

// The hash is there to notice what a disk, or a hand, has done to the bytes.
struct BaseRecord {
    std::uint64_t size = 0;
    Sha1Value sha1{};
    std::string variant;  // BaseKey::variant(): several variants share a place

    std::string format() const;
    static std::optional<BaseRecord> parse(std::string_view text);
};

}  // namespace crcsync::client
