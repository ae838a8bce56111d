#include "base_record.h"

#include <algorithm>
#include <charconv>

#include "hex.h"

namespace crcsync::client {

namespace {

constexpr std::string_view record_version = "1";

std::string_view next_word(std::string_view& text) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
}

}  // namespace

std::string BaseRecord::format() const {
    std::string text(record_version);
    text.append(" ").append(std::to_string(size)).append(" ").append(hex(sha1));
    if (!variant.empty()) text.append(" ").append(variant);
    return text;
}

std::optional<BaseRecord> BaseRecord::parse(std::string_view text) {
    if (next_word(text) != record_version) return std::nullopt;
    BaseRecord record;
    const auto number = next_word(text);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), record.size);
    if (error != std::errc() || end != number.data() + number.size() || record.size == 0) return std::nullopt;
    const auto sha1 = parse_hex<sha1_size>(next_word(text));
    if (!sha1) return std::nullopt;
    record.sha1 = *sha1;
    record.variant = next_word(text);
    return text.empty() ? std::optional(record) : std::nullopt;
}

}  // namespace crcsync::client
