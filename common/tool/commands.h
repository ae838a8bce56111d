// The tool's commands. Each takes the arguments after its name and returns the exit status, or throws a ToolError.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace crcsync::tool {

// The exit statuses, as the man page gives them.
inline constexpr int exit_done = 0;
inline constexpr int exit_corrupt = 1;  // the input is corrupt or the strong hash differs; nothing is written
inline constexpr int exit_usage = 2;
inline constexpr int exit_io = 3;

struct ToolError : std::runtime_error {
    ToolError(int exit_status, const std::string& message) : std::runtime_error(message), status(exit_status) {}
    int status;
};

using Arguments = std::vector<std::string>;

int signature_command(const Arguments& arguments);
int delta_command(const Arguments& arguments);
int patch_command(const Arguments& arguments);
int inspect_command(const Arguments& arguments);
int simulate_command(const Arguments& arguments);

}  // namespace crcsync::tool
