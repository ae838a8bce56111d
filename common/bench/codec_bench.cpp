// Whole deltas: the server's side and the client's side of a page that is the same, has five edits, or is another one.
#include <benchmark/benchmark.h>

#include "decoder.h"
#include "digest.h"
#include "encoder.h"
#include "page.h"
#include "signature.h"

namespace {

using namespace crcsync;

struct Case {
    std::string base = bench::make_page(bench::page_size, 1);
    std::string page;
    IfBlock if_block;

    explicit Case(const std::string& what) {
        page = what == "same"     ? base
               : what == "edited" ? bench::edit_page(base, 5)
                                  : bench::make_page(bench::page_size, 3);
        MemoryBase memory(as_bytes(base));
        (void)make_signature(memory, 40, if_block);
    }
    std::string delta(benchmark::State& state) const {
        StringSink out;
        const auto encoder = make_encoder(if_block, {}, out);
        if (encoder->push(as_bytes(page)) != Status::ok || encoder->finish() != Status::ok)
            state.SkipWithError("encoder");
        return out.take();
    }
};

void count_bytes(benchmark::State& state, const Case& c, std::size_t delta) {
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * c.page.size()));
    state.counters["delta_bytes"] = static_cast<double>(delta);
}

void encode(benchmark::State& state, const std::string& what) {
    const Case c(what);
    std::size_t size = 0;
    for (auto _ : state) size = c.delta(state).size();
    count_bytes(state, c, size);
}

void decode(benchmark::State& state, const std::string& what) {
    const Case c(what);
    const std::string delta = c.delta(state);
    MemoryBase base(as_bytes(c.base));
    for (auto _ : state) {
        StringSink out;
        const auto decoder = make_decoder(c.if_block, base, {}, out);
        if (decoder->push(as_bytes(delta)) != Status::ok || decoder->finish() != Status::ok)
            state.SkipWithError("decoder");
    }
    count_bytes(state, c, delta.size());
}

void sign(benchmark::State& state) {
    const Case c("same");
    for (auto _ : state) {
        MemoryBase base(as_bytes(c.base));
        IfBlock if_block;
        benchmark::DoNotOptimize(make_signature(base, 40, if_block));
    }
    count_bytes(state, c, 0);
}

void strong_hash(benchmark::State& state) {
    const Case c("same");
    for (auto _ : state) benchmark::DoNotOptimize(sha1(as_bytes(c.page)));
    count_bytes(state, c, 0);
}

BENCHMARK_CAPTURE(encode, same, "same")->Name("encode/same");
BENCHMARK_CAPTURE(encode, edited, "edited")->Name("encode/5 edits");
BENCHMARK_CAPTURE(encode, other, "other")->Name("encode/another page");
BENCHMARK_CAPTURE(decode, same, "same")->Name("decode/same");
BENCHMARK_CAPTURE(decode, edited, "edited")->Name("decode/5 edits");
BENCHMARK_CAPTURE(decode, other, "other")->Name("decode/another page");
BENCHMARK(sign)->Name("signature/40");
BENCHMARK(strong_hash)->Name("sha1");

}  // namespace
