// Surgery on header fields: whatever stands in a field, our own members and suffixes go on and come off again, and all
// else stays.
//
// Input: a byte that chooses coding and token, then the field value.
#include "fields.h"

#include "target.h"

using namespace crcsync;
using namespace crcsync::fields;

namespace {

constexpr std::string_view codings[] = {"identity", "gzip", "x-gzip", "deflate"};
constexpr std::string_view tokens[] = {"If-Block", "crcsync", "Accept-Encoding", "*"};

bool same_token(std::string_view a, std::string_view b) {
    return lower_case(a) == lower_case(b);
}

std::string trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return std::string(text);
}

// The tags of a list: commas inside quotes do not split, and a backslash escapes nothing.
std::vector<std::string> tags_of(std::string_view list) {
    std::vector<std::string> tags;
    std::string tag;
    bool quoted = false;
    const auto end_tag = [&] {
        if (const std::string whole = trimmed(tag); !whole.empty()) tags.push_back(whole);
        tag.clear();
    };
    for (const char c : list) {
        if (c == '"') quoted = !quoted;
        if (c == ',' && !quoted) {
            end_tag();
        } else {
            tag += c;
        }
    }
    end_tag();
    return tags;
}

std::string joined(const std::vector<std::string>& members) {
    std::string list;
    for (const auto& member : members) list += (list.empty() ? "" : ", ") + member;
    return list;
}

void check_list(std::string_view value, std::string_view token) {
    const auto members = split_list(value);
    bool any = false;
    for (const auto member : members) any = any || member == "*";

    const std::string with = list_with(value, token);
    FUZZ_CHECK(any || list_has(with, token));
    FUZZ_CHECK(list_with(with, token) == with);
    FUZZ_CHECK(!any || with == value);

    // Added and taken away: the other members, in order, as they were.
    const std::string without = list_without(with, token);
    FUZZ_CHECK(!list_has(without, token));
    FUZZ_CHECK(list_without(without, token) == without);
    std::vector<std::string_view> others;
    for (const auto member : members) {
        if (!same_token(member, token)) others.push_back(member);
    }
    FUZZ_CHECK(split_list(without) == others);
    FUZZ_CHECK(list_without(value, token) == value || split_list(list_without(value, token)) == others);
}

void check_accept_encoding(std::string_view value) {
    const std::string narrowed = narrow_accept_encoding(value);
    FUZZ_CHECK(!narrowed.empty());
    FUZZ_CHECK(narrow_accept_encoding(narrowed) == narrowed);
    for (const auto coding : codings) {
        FUZZ_CHECK(!(refuses_coding(value, coding) && accepts_coding(value, coding)));
        // No coding becomes acceptable that was not; identity is what is left when nothing is.
        if (accepts_coding(narrowed, coding)) FUZZ_CHECK(accepts_coding(value, coding) || narrowed == "identity");
        if (refuses_coding(value, coding)) FUZZ_CHECK(!accepts_coding(narrowed, coding) || narrowed == "identity");
    }
    FUZZ_CHECK(refuses_coding(narrowed, "identity") == refuses_coding(value, "identity"));
    for (const auto member : split_list(narrowed)) {
        const std::string name = trimmed(member.substr(0, member.find(';')));
        FUZZ_CHECK(is_known_coding(name) || name == "*");
    }
}

void check_tag(std::string_view value, std::string_view coding) {
    const std::string tag = trimmed(value);
    const std::string with = tag_with_suffix(value, coding);
    const SplitTag split = split_tag_suffix(with);
    if (tag.empty()) {
        FUZZ_CHECK(with.empty());
    } else {
        FUZZ_CHECK(split.found && split.original == tag && split.coding == coding);
        FUZZ_CHECK(with.starts_with("W/") == tag.starts_with("W/"));
        FUZZ_CHECK(with.ends_with('"') == (tag.size() >= 2 && tag.ends_with('"') && tag.find('"') < tag.size() - 1));
    }

    const SplitTag own = split_tag_suffix(value);
    if (own.found) {
        FUZZ_CHECK(is_known_coding(own.coding) && !own.original.empty());
        FUZZ_CHECK(own.original.size() + std::string_view("-crcsync-").size() + own.coding.size() == tag.size());
    } else {
        FUZZ_CHECK(own.original == tag && own.coding.empty());
    }

    const std::string weak = weak_tag(value);
    FUZZ_CHECK(weak.empty() || (weak.starts_with("W/\"") && weak.ends_with('"') && weak.size() >= 4));
    FUZZ_CHECK(weak.empty() || weak == tag || weak == "W/" + tag);
    FUZZ_CHECK(weak_tag(weak) == weak);
}

void check_tag_list(std::string_view value, std::string_view coding) {
    bool changed = false;
    const std::string stripped = strip_tag_suffixes(value, changed);
    const auto tags = tags_of(value);
    std::vector<std::string> without;
    std::vector<std::string> with;
    bool any = false;
    bool twice = false;
    for (const auto& tag : tags) {
        const SplitTag split = split_tag_suffix(tag);
        any = any || split.found;
        twice = twice || split_tag_suffix(split.original).found;
        without.push_back(trimmed(split.original));
        with.push_back(tag_with_suffix(tag, coding));
    }
    FUZZ_CHECK(changed == any);
    if (!changed) FUZZ_CHECK(stripped == value);
    FUZZ_CHECK(tags_of(stripped) == without);
    if (!(changed && twice)) {  // exactly one comes off: two can only be an origin's own
        bool again = false;
        FUZZ_CHECK(strip_tag_suffixes(stripped, again) == stripped || !again);
        FUZZ_CHECK(!again);
    }

    bool all_changed = false;
    FUZZ_CHECK(strip_tag_suffixes(joined(with), all_changed) == joined(tags));
    FUZZ_CHECK(all_changed == !tags.empty());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::uint8_t choice = input.byte();
    const std::string_view value = as_text(input.rest());
    const std::string_view coding = codings[choice % 4];
    check_list(value, tokens[choice / 4 % 4]);
    check_accept_encoding(value);
    check_tag(value, coding);
    check_tag_list(value, coding);
    FUZZ_CHECK(is_stream_type(value) == is_stream_type(trimmed(value.substr(0, value.find(';')))));
    FUZZ_CHECK(lower_case(lower_case(value)) == lower_case(value));
    return 0;
}
