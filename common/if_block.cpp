#include "if_block.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace crcsync {

namespace {

constexpr std::size_t hash_size = 8;
constexpr std::string_view field_name = "If-Block: ";

std::string_view trim(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

// A decimal number: digits only, no sign, no overflow.
std::optional<std::uint64_t> parse_number(std::string_view text) {
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    if (text.empty() || text.front() == '-') return std::nullopt;
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return number;
}

// Whether `text` is base64 with all its padding, and nothing else.
bool is_base64(std::string_view text) {
    if (text.empty() || text.size() % 4 != 0) return false;
    for (int padding = 0; padding < 2 && text.back() == '='; ++padding) text.remove_suffix(1);
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
    });
}

// The hashes in `value`; empty if it is not the base64 of 1 to max_blocks whole hashes. The 2009 code leaves the
// padding out, which is unambiguous; so it may be missing, but not be wrong.
std::vector<std::uint64_t> decode_hashes(std::string_view value) {
    std::array<std::uint8_t, (max_blocks * hash_size + 2) / 3 * 3> decoded{};
    std::string text(value);
    if (text.find('=') == std::string::npos) text.append((4 - text.size() % 4) % 4, '=');
    if (!is_base64(text) || text.size() / 4 * 3 > decoded.size()) return {};
    // OpenSSL counts the padding's zero bytes in; it also skips blanks, which is why is_base64() looks first.
    const int length = EVP_DecodeBlock(decoded.data(), reinterpret_cast<const unsigned char*>(text.data()),
                                       static_cast<int>(text.size()));
    if (length < 0) return {};
    const auto padding = static_cast<std::size_t>(std::count(text.end() - 2, text.end(), '='));
    const std::size_t size = static_cast<std::size_t>(length) - padding;
    if (size % hash_size != 0 || size / hash_size > max_blocks) return {};

    std::vector<std::uint64_t> hashes(size / hash_size);
    for (std::size_t i = 0; i < size; ++i) {
        std::uint64_t& hash = hashes[i / hash_size];
        hash = (hash << 8) | decoded[i];
    }
    return hashes;
}

std::string encode_hashes(const std::vector<std::uint64_t>& hashes) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(hashes.size() * hash_size);
    for (const std::uint64_t hash : hashes) {
        for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(hash >> shift));
    }
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL ends it with a zero byte
    const int length =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(), static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(length));
    return text;
}

struct Parts {
    std::optional<std::string_view> version;
    std::optional<std::string_view> size;
    std::optional<std::string_view> hashes;
};

// Splits the value into its known parts; false if one of them stands twice.
bool split(std::string_view value, Parts& parts) {
    while (!value.empty()) {
        const std::size_t end = value.find(';');
        const std::string_view part = trim(value.substr(0, end));
        value = end == std::string_view::npos ? std::string_view{} : value.substr(end + 1);

        const std::size_t equals = part.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string_view name = trim(part.substr(0, equals));
        std::optional<std::string_view>* known = name == "v"    ? &parts.version
                                                 : name == "fs" ? &parts.size
                                                 : name == "h"  ? &parts.hashes
                                                                : nullptr;
        if (known == nullptr) continue;
        if (known->has_value()) return false;
        *known = trim(part.substr(equals + 1));
    }
    return true;
}

}  // namespace

Status parse_if_block(std::string_view value, std::uint64_t max_block, IfBlock& out) {
    if (value.size() > max_if_block_value) return Status::bad_if_block;
    Parts parts;
    if (!split(value, parts)) return Status::bad_if_block;

    out.version = 1;
    if (parts.version) {
        const auto version = parse_number(*parts.version);
        if (!version) return Status::bad_if_block;
        if (*version != 1) return Status::unsupported_version;
    }
    if (!parts.size || !parts.hashes) return Status::bad_if_block;

    const auto size = parse_number(*parts.size);
    if (!size || *size == 0) return Status::bad_if_block;
    out.hashes = decode_hashes(*parts.hashes);
    if (out.hashes.empty() || out.hashes.size() > *size) return Status::bad_if_block;

    out.layout = {*size, static_cast<std::uint32_t>(out.hashes.size())};
    return out.layout.last() > max_block ? Status::block_limit : Status::ok;
}

std::string format_if_block(const IfBlock& if_block) {
    return "v=" + std::to_string(if_block.version) + "; fs=" + std::to_string(if_block.layout.size) +
           "; h=" + encode_hashes(if_block.hashes);
}

std::size_t if_block_value_size(std::uint64_t size, std::uint32_t count) {
    return std::string_view("v=1; fs=; h=").size() + std::to_string(size).size() + (count * hash_size + 2) / 3 * 4;
}

std::size_t if_block_line_size(std::string_view value) {
    return field_name.size() + value.size() + 2;
}

}  // namespace crcsync
