#include "vary_names.h"

#include <algorithm>

#include "fields.h"

namespace crcsync::client {

namespace {

constexpr std::size_t max_names = 16;
constexpr std::size_t max_name_bytes = 512;

}  // namespace

VaryNames parse_vary_names(std::string_view vary) {
    VaryNames names;
    for (const auto member : fields::split_list(vary)) {
        if (member == "*" || !fields::is_token(member)) continue;
        std::string name = fields::lower_case(member);
        if (name != "accept-encoding" && name != "if-block") names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::string join_names(const VaryNames& names) {
    std::string list;
    for (const auto& name : names) {
        if (!list.empty()) list += ", ";
        list += name;
    }
    return list;
}

bool too_many_names(const VaryNames& names) {
    return names.size() > max_names || join_names(names).size() > max_name_bytes;
}

}  // namespace crcsync::client
