// Set-up of a request, and the scan of a page in which nothing matches, beside the 2009 code.
#include <benchmark/benchmark.h>

#include <stdexcept>

#include "encoder.h"
#include "matcher.h"
#include "page.h"
#include "signature.h"
#include "yardstick_2009.h"

namespace {

using namespace crcsync;

IfBlock signature_of_another_page(benchmark::State& state) {
    const std::string page = bench::make_page(bench::page_size + 1, 2);
    MemoryBase base(as_bytes(page));
    IfBlock if_block;
    if (make_signature(base, static_cast<std::uint32_t>(state.range(0)), if_block) != Status::ok) {
        throw std::runtime_error("no signature");
    }
    return if_block;
}

void count_bytes(benchmark::State& state, const std::string& page) {
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * page.size()));
}

void setup_2009(benchmark::State& state) {
    const IfBlock if_block = signature_of_another_page(state);
    for (auto _ : state) {
        bench::Yardstick2009 yardstick(if_block.hashes, if_block.layout.normal(), if_block.layout.last());
        benchmark::DoNotOptimize(&yardstick);
    }
}

void setup_ours(benchmark::State& state) {
    const IfBlock if_block = signature_of_another_page(state);
    StringSink out;
    for (auto _ : state) benchmark::DoNotOptimize(make_encoder(if_block, {}, out));
}

void scan_2009(benchmark::State& state) {
    const IfBlock if_block = signature_of_another_page(state);
    const std::string page = bench::make_page(bench::page_size, 1);
    bench::Yardstick2009 yardstick(if_block.hashes, if_block.layout.normal(), if_block.layout.last());
    for (auto _ : state) benchmark::DoNotOptimize(yardstick.scan(as_bytes(page)));
    count_bytes(state, page);
}

struct Ignore final : MatchListener {
    bool literal(Bytes) override { return true; }
    bool block(std::uint32_t, std::uint64_t) override { return true; }
};

// The whole matcher with its set-up, fed as httpd feeds it.
void scan_ours(benchmark::State& state) {
    const IfBlock if_block = signature_of_another_page(state);
    const std::string page = bench::make_page(bench::page_size, 1);
    Ignore listener;
    for (auto _ : state) {
        Matcher matcher(if_block, listener);
        if (!matcher.push(as_bytes(page)) || !matcher.finish()) state.SkipWithError("stopped");
    }
    count_bytes(state, page);
}

BENCHMARK(setup_2009)->Name("setup/2009")->Arg(40)->Arg(250);
BENCHMARK(setup_ours)->Name("setup/ours")->Arg(40)->Arg(250);
BENCHMARK(scan_2009)->Name("scan/2009")->Arg(40)->Arg(250);
BENCHMARK(scan_ours)->Name("scan/ours")->Arg(40)->Arg(250);

}  // namespace
