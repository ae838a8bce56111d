#include "files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "commands.h"
#include "unfinished.h"

namespace crcsync::tool {

namespace {

constexpr std::size_t piece_size = 64 * 1024;

[[noreturn]] void io_error(const std::string& what) {
    throw ToolError(exit_io, what + ": " + std::strerror(errno));
}

std::string shown(const std::string& path, const char* standard) {
    return path.empty() || path == "-" ? standard : path;
}

}  // namespace

void read_pieces(const std::string& path, const std::function<void(Bytes)>& take) {
    const auto close = [](std::FILE* file) {
        if (file != stdin) std::fclose(file);
    };
    const std::unique_ptr<std::FILE, decltype(close)> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"), close);
    if (!file) io_error(path);
    std::vector<std::uint8_t> piece(piece_size);
    while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), file.get())) {
        take(Bytes(piece).first(got));
    }
    if (std::ferror(file.get()) != 0) io_error(shown(path, "standard input"));
}

std::string read_file(const std::string& path) {
    std::string content;
    read_pieces(path, [&](Bytes piece) {
        if (piece.size() > largest_file - content.size()) {
            throw ToolError(exit_io,
                            shown(path, "standard input") + ": more than " + std::to_string(largest_file) + " bytes");
        }
        content.append(as_text(piece));
    });
    return content;
}

OutputFile::OutputFile(const std::optional<std::string>& path) {
    if (!path || *path == "-") {
        file_ = std::tmpfile();
        if (file_ == nullptr) io_error("a temporary file");
        return;
    }
    path_ = *path;
    // A device or pipe has no place beside it, and nothing to be kept from.
    struct stat info {};
    if (stat(path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
        file_ = std::fopen(path_.c_str(), "wb");
        if (file_ == nullptr) io_error(path_);
        return;
    }
    temporary_ = path_ + ".XXXXXX";
    const int descriptor = make_unfinished(temporary_);
    if (descriptor < 0) io_error(path_);
    const mode_t mask = umask(0);
    umask(mask);
    if (fchmod(descriptor, 0666 & ~mask) != 0 || (file_ = fdopen(descriptor, "wb")) == nullptr) {
        close(descriptor);
        unlink(temporary_.c_str());
        forget_unfinished();
        io_error(path_);
    }
}

OutputFile::~OutputFile() {
    if (file_ != nullptr) std::fclose(file_);
    if (temporary_.empty()) return;
    unlink(temporary_.c_str());
    forget_unfinished();
}

bool OutputFile::write(Bytes bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) io_error(shown(path_, "standard output"));
    return true;
}

void OutputFile::commit() {
    if (path_.empty()) {
        std::rewind(file_);
        std::vector<char> piece(piece_size);
        while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), file_)) {
            if (std::fwrite(piece.data(), 1, got, stdout) != got) io_error("standard output");
        }
        if (std::ferror(file_) != 0) io_error("a temporary file");
        finish_stdout();
        return;
    }
    const int closed = std::fclose(file_);
    file_ = nullptr;
    if (closed != 0) io_error(path_);
    if (temporary_.empty()) return;
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) io_error(path_);
    forget_unfinished();
    temporary_.clear();
}

void finish_stdout() {
    if (std::fflush(stdout) != 0) io_error("standard output");
}

}  // namespace crcsync::tool
