#include "fields.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace crcsync::fields {

namespace {

constexpr std::string_view suffix_mark = "-crcsync-";

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_fold(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

// A quoted-string has backslash escapes, an entity tag has none (RFC 9110, sections 5.6.4 and 8.8.3): `"a\"` is whole.
enum class Escapes { backslash, none };

// Follows the quotes of a text, character by character.
class Quotes {
public:
    explicit Quotes(Escapes escapes) : escapes_(escapes) {}

    // Whether `c`, the next character, separates if it is a separator.
    bool outside(char c) {
        const bool was_outside = !quoted_;
        if (escaped_) {
            escaped_ = false;
        } else if (c == '"') {
            quoted_ = !quoted_;
        } else {
            escaped_ = quoted_ && escapes_ == Escapes::backslash && c == '\\';
        }
        return was_outside;
    }
    bool open() const { return quoted_; }

private:
    Escapes escapes_;
    bool quoted_ = false;
    bool escaped_ = false;
};

// Splits at each `separator` outside of quotes; members are trimmed, empty ones dropped.
std::vector<std::string_view> split(std::string_view text, char separator, Escapes escapes) {
    std::vector<std::string_view> members;
    const auto add = [&](std::string_view part) {
        if (const auto member = trim(part); !member.empty()) members.push_back(member);
    };
    Quotes quotes(escapes);
    std::size_t start = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quotes.outside(text[i]) && text[i] == separator) {
            add(text.substr(start, i - start));
            start = i + 1;
        }
    }
    add(text.substr(start));
    return members;
}

// Whether the first word of a member, before its value or parameters, is `word`.
bool begins_with(std::string_view member, std::string_view word) {
    return equal_fold(member.substr(0, member.find_first_of("; \t=")), word);
}

// Whether the last member of a list has a quote that is not closed.
bool ends_quoted(std::string_view list) {
    Quotes quotes(Escapes::backslash);
    for (const char c : list) quotes.outside(c);
    return quotes.open();
}

std::string join(const std::vector<std::string_view>& members) {
    std::string text;
    for (const auto& member : members) {
        if (!text.empty()) text += ", ";
        text += member;
    }
    return text;
}

// One member of Accept-Encoding.
struct Weighted {
    std::string_view coding;
    std::string_view parameters;  // from the first `;` on, as they stand
    bool refused = false;         // q=0
};

// A q that is no number counts as absent: it refuses nothing.
bool is_zero_q(std::string_view parameter) {
    const auto equals = parameter.find('=');
    if (equals == std::string_view::npos || !equal_fold(trim(parameter.substr(0, equals)), "q")) return false;
    const auto value = trim(parameter.substr(equals + 1));
    if (value.empty() || value.front() != '0') return false;
    const auto digits = value.substr(1);
    return digits.empty() || (digits.front() == '.' && digits.find_first_not_of('0', 1) == std::string_view::npos);
}

Weighted parse_weighted(std::string_view member) {
    Weighted result;
    const auto semicolon = std::min(member.find(';'), member.size());
    result.coding = trim(member.substr(0, semicolon));
    result.parameters = member.substr(semicolon);
    const auto parameters = split(result.parameters, ';', Escapes::backslash);
    result.refused = std::any_of(parameters.begin(), parameters.end(), is_zero_q);
    return result;
}

// x-gzip is another name of gzip (RFC 9110, section 8.4.1.3).
bool same_coding(std::string_view a, std::string_view b) {
    const auto plain = [](std::string_view coding) { return equal_fold(coding, "x-gzip") ? "gzip" : coding; };
    return equal_fold(plain(a), plain(b));
}

// What Accept-Encoding says about `coding`: by name, else by `*`, else nothing. The first of several counts.
std::optional<Weighted> find_coding(std::string_view accept_encoding, std::string_view coding) {
    std::optional<Weighted> any;
    for (const auto& member : split_list(accept_encoding)) {
        const auto weighted = parse_weighted(member);
        if (same_coding(weighted.coding, coding)) return weighted;
        if (weighted.coding == "*" && !any) any = weighted;
    }
    return any;
}

// Where the text that a suffix belongs to ends: before the closing quote of a quoted tag, else at the end.
std::size_t inner_end(std::string_view tag) {
    const bool quoted = tag.size() >= 2 && tag.back() == '"' && tag.find('"') < tag.size() - 1;
    return quoted ? tag.size() - 1 : tag.size();
}

}  // namespace

std::string lower_case(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), lower);
    return result;
}

bool is_token(std::string_view text) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        const char l = lower(c);
        return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || marks.find(c) != std::string_view::npos;
    });
}

bool is_stream_type(std::string_view content_type) {
    constexpr std::array streams = {"text/event-stream",       "multipart/x-mixed-replace", "application/x-ndjson",
                                    "application/ndjson",      "application/jsonl",         "application/json-seq",
                                    "application/stream+json", "application/grpc",          "application/grpc+proto"};
    const auto bare = trim(content_type.substr(0, content_type.find(';')));
    return std::any_of(streams.begin(), streams.end(), [&](const char* type) { return equal_fold(bare, type); });
}

std::vector<std::string_view> split_list(std::string_view list) {
    return split(list, ',', Escapes::backslash);
}

bool list_has(std::string_view list, std::string_view token) {
    const auto members = split_list(list);
    return std::any_of(members.begin(), members.end(), [&](auto member) { return equal_fold(member, token); });
}

std::string list_with(std::string_view list, std::string_view token) {
    auto members = split_list(list);
    const bool there = std::any_of(members.begin(), members.end(),
                                   [&](auto member) { return member == "*" || equal_fold(member, token); });
    if (there) return std::string(list);
    // A quote that is never closed would take in what stands behind it.
    members.insert(ends_quoted(list) ? members.begin() : members.end(), token);
    return join(members);
}

std::string list_without(std::string_view list, std::string_view token) {
    auto members = split_list(list);
    if (std::erase_if(members, [&](auto member) { return equal_fold(member, token); }) == 0) return std::string(list);
    return join(members);
}

bool list_has_word(std::string_view list, std::string_view word) {
    const auto members = split_list(list);
    return std::any_of(members.begin(), members.end(), [&](auto member) { return begins_with(member, word); });
}

std::string list_without_word(std::string_view list, std::string_view word) {
    auto members = split_list(list);
    if (std::erase_if(members, [&](auto member) { return begins_with(member, word); }) == 0) return std::string(list);
    return join(members);
}

bool refuses_coding(std::string_view accept_encoding, std::string_view coding) {
    const auto found = find_coding(accept_encoding, coding);
    return found && found->refused;
}

bool accepts_coding(std::string_view accept_encoding, std::string_view coding) {
    const auto found = find_coding(accept_encoding, coding);
    return found && !found->refused;
}

std::string narrow_accept_encoding(std::string_view accept_encoding) {
    const auto members = split_list(accept_encoding);
    const bool names_gzip = std::any_of(members.begin(), members.end(),
                                        [](auto member) { return same_coding(parse_weighted(member).coding, "gzip"); });
    std::string narrowed;
    bool any = false;  // of several `*` the first counts
    const auto add = [&](std::string_view coding, std::string_view parameters) {
        if (!narrowed.empty()) narrowed += ", ";
        narrowed += coding;
        narrowed += parameters;
    };
    for (const auto& member : members) {
        const auto weighted = parse_weighted(member);
        if (is_known_coding(weighted.coding)) {
            add(weighted.coding, weighted.parameters);
        } else if (weighted.coding == "*" && !std::exchange(any, true)) {
            if (weighted.refused) add("*", weighted.parameters);
            if (!weighted.refused && !names_gzip) add("gzip", weighted.parameters);
        }
    }
    return narrowed.empty() ? "identity" : narrowed;
}

bool is_known_coding(std::string_view coding) {
    constexpr std::array<std::string_view, 4> known = {"identity", "gzip", "x-gzip", "deflate"};
    return std::any_of(known.begin(), known.end(), [&](auto name) { return equal_fold(coding, name); });
}

std::string tag_with_suffix(std::string_view tag, std::string_view coding) {
    std::string result(trim(tag));
    if (result.empty()) return result;
    return result.insert(inner_end(result), std::string(suffix_mark) + lower_case(coding));
}

SplitTag split_tag_suffix(std::string_view tag) {
    SplitTag result;
    tag = trim(tag);
    result.original = tag;
    const auto end = inner_end(tag);
    const auto mark = tag.substr(0, end).rfind(suffix_mark);
    if (mark == std::string_view::npos || mark == 0) return result;
    const auto coding = tag.substr(mark + suffix_mark.size(), end - mark - suffix_mark.size());
    if (!is_known_coding(coding)) return result;
    result.found = true;
    result.coding = coding;
    result.original.erase(mark, end - mark);
    return result;
}

std::string weak_tag(std::string_view tag) {
    tag = trim(tag);
    const bool weak = tag.starts_with("W/");
    const auto opaque = tag.substr(weak ? 2 : 0);
    const bool quoted = opaque.size() >= 2 && opaque.front() == '"' && opaque.find('"', 1) == opaque.size() - 1;
    if (!quoted) return {};
    return weak ? std::string(tag) : "W/" + std::string(tag);
}

std::string strip_tag_suffixes(std::string_view list, bool& changed) {
    changed = false;
    std::string stripped;
    for (const auto& member : split(list, ',', Escapes::none)) {
        const auto tag = split_tag_suffix(member);
        changed = changed || tag.found;
        if (!stripped.empty()) stripped += ", ";
        stripped += tag.original;
    }
    return changed ? stripped : std::string(list);
}

}  // namespace crcsync::fields
