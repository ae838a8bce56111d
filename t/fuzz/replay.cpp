// Runs a fuzz target over files that are there: the committed corpus, or what a fuzzer has found. Needs no fuzzer.
//
//     TARGET_replay FILE-OR-FOLDER...
#include <filesystem>
#include <fstream>
#include <iterator>

#include "target.h"

namespace {

std::size_t runs = 0;

void run(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(in), {}};
    if (in.bad() || !in.is_open()) {
        std::fprintf(stderr, "cannot read %s\n", file.c_str());
        std::exit(EXIT_FAILURE);
    }
    // A copy of just this size, so that AddressSanitizer sees a read beyond its end.
    const std::vector<std::uint8_t> bytes(content.begin(), content.end());
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    ++runs;
}

}  // namespace

int main(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
        const std::filesystem::path path = arguments[i];
        if (!std::filesystem::is_directory(path)) {
            run(path);
            continue;
        }
        for (const auto& entry : std::filesystem::directory_iterator(path)) run(entry.path());
    }
    // A corpus that is not there proves nothing.
    return runs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
