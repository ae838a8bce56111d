// Command lines: options that take a value, switches, and the rest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "if_block.h"

namespace crcsync::tool {

class Options {
public:
    // `with_value` and `switches` name the options that the command knows. Others, and a missing value, are a ToolError
    // with exit_usage. `--name=value` and `--name value` are the same; `--` ends the options.
    Options(const Arguments& arguments, const std::vector<std::string_view>& with_value,
            const std::vector<std::string_view>& switches);

    bool has(std::string_view name) const;
    std::optional<std::string> value(std::string_view name) const;

    // A number between `low` and `high`, or `fallback` where the option is not given.
    std::uint64_t number(std::string_view name, std::uint64_t low, std::uint64_t high, std::uint64_t fallback) const;

    // --protocol: only 1 is known.
    void check_protocol() const;

    // --if-block VALUE|@FILE, which must be given and well-formed.
    IfBlock if_block() const;

    // What stands beside the options: at least `low` and at most `high` of it.
    const std::vector<std::string>& rest(std::size_t low, std::size_t high) const;

private:
    std::map<std::string, std::string, std::less<>> given_;
    std::vector<std::string> rest_;
};

}  // namespace crcsync::tool
