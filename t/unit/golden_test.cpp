// The golden vectors: what other implementations of protocol 1 send must be read, and what we send must not be longer.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "samples.h"
#include "suite.h"

using namespace crcsync;
namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    ck_assert_msg(file.good(), "%s", path.c_str());
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string read_line(const fs::path& path) {
    std::string line = read(path);
    while (line.ends_with('\n')) line.pop_back();
    return line;
}

std::vector<fs::path> cases() {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(GOLDEN_DIR)) {
        if (entry.is_directory()) folders.push_back(entry.path());
    }
    ck_assert_uint_ge(folders.size(), 15);
    return folders;
}

bool is_collision(const fs::path& folder) {
    return folder.filename().string().ends_with("crc-collision");
}

START_TEST(signatures_are_the_same) {
    for (const fs::path& folder : cases()) {
        const std::string value = format_if_block(samples::signature(read(folder / "base"), 40));
        ck_assert_msg(value == read_line(folder / "if_block.txt"), "%s", folder.c_str());
    }
}
END_TEST

START_TEST(their_deltas_are_read) {
    for (const fs::path& folder : cases()) {
        IfBlock if_block;
        ck_assert(parse_if_block(read_line(folder / "if_block.txt"), UINT64_MAX, if_block) == Status::ok);
        const samples::Decoded decoded = samples::decode(if_block, read(folder / "base"), read(folder / "delta.bin"));
        if (is_collision(folder)) {
            ck_assert(decoded.status == Status::hash_mismatch);
            continue;
        }
        ck_assert_msg(decoded.status == Status::ok, "%s: %s", folder.c_str(), name(decoded.status));
        samples::expect_same(decoded.instance, read(folder / "new"));
    }
}
END_TEST

START_TEST(our_deltas_are_no_longer) {
    for (const fs::path& folder : cases()) {
        IfBlock if_block;
        ck_assert(parse_if_block(read_line(folder / "if_block.txt"), UINT64_MAX, if_block) == Status::ok);
        const std::string page = read(folder / "new");
        const std::string made = samples::delta(if_block, page);
        ck_assert_msg(made.size() <= read(folder / "delta.bin").size(), "%s: %zu bytes", folder.c_str(), made.size());
        const samples::Decoded decoded = samples::decode(if_block, read(folder / "base"), made);
        ck_assert(decoded.status == (is_collision(folder) ? Status::hash_mismatch : Status::ok));
        if (!is_collision(folder)) samples::expect_same(decoded.instance, page);
    }
}
END_TEST

START_TEST(fields_of_the_2009_code_match_nothing_and_do_no_harm) {
    for (const fs::path& folder : cases()) {
        IfBlock if_block;
        ck_assert(parse_if_block(read_line(folder / "if_block_host_order.txt"), UINT64_MAX, if_block) == Status::ok);
        const std::string page = read(folder / "new");
        const samples::Decoded decoded =
            samples::decode(if_block, read(folder / "base"), samples::delta(if_block, page));
        ck_assert(decoded.status == Status::ok);
        samples::expect_same(decoded.instance, page);
        // A hash of zeros is the same in any byte order.
        if (!folder.filename().string().ends_with("zeros")) ck_assert_uint_eq(decoded.stats.blocks, 0);
    }
}
END_TEST

}  // namespace

int main() {
    return run_suite("golden", {signatures_are_the_same, their_deltas_are_read, our_deltas_are_no_longer,
                                fields_of_the_2009_code_match_nothing_and_do_no_harm});
}
