// Files for the tool: "-" is standard input or output; every fault is a ToolError with exit_io.
#pragma once

#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "bytes.h"

namespace crcsync::tool {

// The longest file that is read into memory, of which there is only so much: a device or a pipe may have no end.
inline constexpr std::size_t largest_file = std::size_t{256} * 1024 * 1024;

// A whole file, of at most largest_file bytes.
std::string read_file(const std::string& path);

// Hands the file to `take` in pieces of 64 KiB, so that it need not fit into memory.
void read_pieces(const std::string& path, const std::function<void(Bytes)>& take);

// Output that appears only when it is complete: a file is written under a temporary name beside its place, standard
// output is collected in a temporary file first. Without commit() nothing is left.
class OutputFile final : public Sink {
public:
    explicit OutputFile(const std::optional<std::string>& path);
    ~OutputFile() override;
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    bool write(Bytes bytes) override;
    void commit();

private:
    std::string path_;       // empty: standard output
    std::string temporary_;  // empty: nothing to remove
    std::FILE* file_ = nullptr;
};

// Flushes standard output; a fault there (a full disk, a closed pipe) is one of the tool's too.
void finish_stdout();

}  // namespace crcsync::tool
