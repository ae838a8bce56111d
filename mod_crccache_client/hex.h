// Bytes as hex digits, and back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace crcsync::client {

inline std::string hex(std::span<const std::uint8_t> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

// Exactly N bytes in lower case digits, or nothing.
template <std::size_t N>
std::optional<std::array<std::uint8_t, N>> parse_hex(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    if (text.size() != 2 * N) return std::nullopt;
    std::array<std::uint8_t, N> bytes{};
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto value = digits.find(text[i]);
        if (value == std::string_view::npos) return std::nullopt;
        bytes[i / 2] = static_cast<std::uint8_t>(bytes[i / 2] << 4 | value);
    }
    return bytes;
}

}  // namespace crcsync::client
