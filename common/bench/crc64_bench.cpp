// Every CRC kernel, on chunks of 512 bytes and on the blocks of the page.
#include <benchmark/benchmark.h>

#include "crc64.h"
#include "page.h"

namespace {

using namespace crcsync;

void run(benchmark::State& state, const Crc64Kernel& kernel) {
    const auto chunk = static_cast<std::size_t>(state.range(0));
    const std::string page = bench::make_page(512 * 1024, 1);
    const Bytes data = as_bytes(page);
    for (auto _ : state) {
        std::uint64_t sum = 0;
        for (std::size_t at = 0; at + chunk <= data.size(); at += chunk) sum ^= kernel.update(0, &data[at], chunk);
        benchmark::DoNotOptimize(sum);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * (data.size() / chunk * chunk)));
}

const bool registered = [] {
    for (const Crc64Kernel& kernel : crc64_kernels()) {
        const std::string name = std::string("crc64/") + kernel.name;
        if (kernel.usable()) {
            benchmark::RegisterBenchmark(name.c_str(), run, kernel)->Arg(512)->Arg(2106)->Arg(65536);
        } else {
            benchmark::RegisterBenchmark(
                name.c_str(), [](benchmark::State& state) { state.SkipWithError("this processor cannot run it"); });
        }
    }
    return true;
}();

}  // namespace
