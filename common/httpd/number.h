// Numbers in directives.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace crcsync {

// Digits, and nothing else but, where `units` says so, one of K, M and G. Nothing for what is no such number or does
// not fit.
inline std::optional<std::uint64_t> parse_number(std::string_view text, bool units) {
    std::uint64_t number = 0;
    const char* const all = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), all, number);
    if (error != std::errc()) return std::nullopt;
    const std::string_view unit(end, static_cast<std::size_t>(all - end));
    if (unit.empty()) return number;
    if (!units || unit.size() != 1) return std::nullopt;
    unsigned shift = 0;
    switch (unit.front()) {
        case 'k':
        case 'K': shift = 10; break;
        case 'm':
        case 'M': shift = 20; break;
        case 'g':
        case 'G': shift = 30; break;
        default: return std::nullopt;
    }
    if (number > UINT64_MAX >> shift) return std::nullopt;
    return number << shift;
}

}  // namespace crcsync
