#include "options.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "files.h"

namespace crcsync::tool {

namespace {

[[noreturn]] void usage(const std::string& message) {
    throw ToolError(exit_usage, message);
}

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Options::Options(const Arguments& arguments, const std::vector<std::string_view>& with_value,
                 const std::vector<std::string_view>& switches) {
    bool options_ended = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (options_ended || argument == "-" || !argument.starts_with("-")) {
            rest_.push_back(argument);
            continue;
        }
        if (argument == "--") {
            options_ended = true;
            continue;
        }
        const std::size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
        const std::string name = argument.substr(0, equals);
        if (contains(switches, name) && equals == std::string::npos) {
            given_[name] = "";
        } else if (contains(with_value, name)) {
            if (equals == std::string::npos && i + 1 == arguments.size()) usage(name + " needs a value");
            given_[name] = equals == std::string::npos ? arguments[++i] : argument.substr(equals + 1);
        } else {
            usage("unknown option " + argument);
        }
    }
}

bool Options::has(std::string_view name) const {
    return given_.find(name) != given_.end();
}

std::optional<std::string> Options::value(std::string_view name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t Options::number(std::string_view name, std::uint64_t low, std::uint64_t high,
                              std::uint64_t fallback) const {
    const auto text = value(name);
    if (!text) return fallback;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error != std::errc{} || end != text->data() + text->size() || text->starts_with("-") || number < low ||
        number > high) {
        usage(std::string(name) + " takes a number from " + std::to_string(low) + " to " + std::to_string(high));
    }
    return number;
}

void Options::check_protocol() const {
    const auto version = value("--protocol");
    if (version && *version != "1") usage("--protocol takes 1, the only version there is");
}

IfBlock Options::if_block() const {
    auto text = value("--if-block");
    if (!text) usage("--if-block is needed");
    if (text->starts_with("@")) {
        text = read_file(text->substr(1));
        while (text->ends_with("\n") || text->ends_with("\r")) text->pop_back();
    }
    IfBlock if_block;
    const Status status = parse_if_block(*text, std::numeric_limits<std::uint64_t>::max(), if_block);
    if (status != Status::ok) throw ToolError(exit_corrupt, std::string("the If-Block value: ") + name(status));
    return if_block;
}

const std::vector<std::string>& Options::rest(std::size_t low, std::size_t high) const {
    if (rest_.size() < low) usage("a file name is missing");
    if (rest_.size() > high) usage("too many file names");
    return rest_;
}

}  // namespace crcsync::tool
