// inspect: the sections of a delta, one a line. The delta alone is enough: blocks are named, not copied.

#include <cstdio>

#include "commands.h"
#include "files.h"
#include "inflater.h"
#include "options.h"
#include "sections.h"

namespace crcsync::tool {

namespace {

struct Counter final : Sink {
    bool write(Bytes) override { return true; }
};

[[noreturn]] void corrupt(std::size_t offset, const std::string& what) {
    throw ToolError(exit_corrupt, "at byte " + std::to_string(offset) + ": " + what);
}

Bytes take(Bytes& in, std::size_t size, std::size_t offset) {
    if (in.size() < size) corrupt(offset, name(Status::truncated));
    const Bytes part = in.first(size);
    in = in.subspan(size);
    return part;
}

std::string hex(Bytes bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

// Collects the table, so that of a corrupt delta nothing is printed.
class Printer {
public:
    explicit Printer(bool json) : json_(json) {
        if (json_) text_ = "[";
    }
    void line(std::size_t offset, char id, std::size_t size, const char* what, const std::string& value) {
        char start[96];
        if (!json_) {
            std::snprintf(start, sizeof start, "%8zu  %c  %8zu bytes  ", offset, id, size);
            text_.append(start).append(what).append(" ").append(value).append("\n");
            return;
        }
        std::snprintf(start, sizeof start, "%s\n  {\"offset\": %zu, \"section\": \"%c\", \"bytes\": %zu, ",
                      first_ ? "" : ",", offset, id, size);
        const char* quote = id == section::strong_hash ? "\"" : "";
        text_.append(start).append("\"").append(what).append("\": ").append(quote).append(value).append(quote).append(
            "}");
        first_ = false;
    }
    void print() const { std::printf("%s%s", text_.c_str(), json_ ? "\n]\n" : ""); }

private:
    bool json_;
    bool first_ = true;
    std::string text_;
};

// One section from the front of `in`, printed. Returns true for the strong hash.
bool inspect_section(Bytes& in, std::size_t offset, Printer& printer) {
    const std::size_t before = in.size();
    const std::uint8_t id = take(in, 1, offset).front();
    std::string value;
    const char* what = "instance_bytes";
    switch (id) {
        case section::block:
            what = "block";
            value = std::to_string(take(in, 1, offset).front());
            break;
        case section::literal: {
            std::size_t length = 0;
            for (const std::uint8_t byte : take(in, 4, offset)) length = length << 8 | byte;
            take(in, length, offset);
            value = std::to_string(length);
            break;
        }
        case section::compressed: {
            Inflater inflater(Inflater::Format::zlib, UINT64_MAX);
            Counter counter;
            const Status status = inflater.push(in, counter);
            if (status != Status::ok) corrupt(offset, name(status));
            if (!inflater.at_end()) corrupt(offset, name(Status::truncated));
            value = std::to_string(inflater.produced());
            break;
        }
        case section::strong_hash:
            what = "sha1";
            value = hex(take(in, 20, offset));
            break;
        default: corrupt(offset, "a section that does not exist");
    }
    printer.line(offset, static_cast<char>(id), before - in.size(), what, value);
    return id == section::strong_hash;
}

}  // namespace

int inspect_command(const Arguments& arguments) {
    const Options options(arguments, {}, {"--json"});
    const std::string delta = read_file(options.rest(1, 1).front());
    Printer printer(options.has("--json"));
    Bytes in = as_bytes(delta);
    int hashes = 0;
    while (!in.empty()) {
        const std::size_t offset = delta.size() - in.size();
        if (inspect_section(in, offset, printer) && ++hashes > 1) corrupt(offset, "a second strong hash");
    }
    if (hashes == 0) corrupt(delta.size(), "no strong hash");
    printer.print();
    finish_stdout();
    return exit_done;
}

}  // namespace crcsync::tool
