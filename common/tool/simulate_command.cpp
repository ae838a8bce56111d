// simulate: a client that fetches each version of a page in turn, with the plan and history that the client module
// uses.

#include <zlib.h>

#include <cstdio>
#include <optional>

#include "block_plan.h"
#include "commands.h"
#include "decoder.h"
#include "encoder.h"
#include "files.h"
#include "json.h"
#include "options.h"
#include "signature.h"

namespace crcsync::tool {

namespace {

// The size of `content` as gzip -6 makes it, without a file name.
std::size_t gzip_size(const std::string& content) {
    z_stream stream{};
    if (deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
    std::vector<std::uint8_t> out(deflateBound(&stream, content.size()));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    const int result = deflate(&stream, Z_FINISH);
    const std::size_t size = stream.total_out;
    deflateEnd(&stream);
    if (result != Z_STREAM_END) throw ToolError(exit_io, "zlib cannot compress");
    return size;
}

struct Step {
    std::string path;
    std::size_t instance = 0;
    std::uint32_t blocks = 0;  // 0: fetched without If-Block
    std::size_t request = 0;   // bytes of the If-Block field line
    std::size_t response = 0;  // body bytes: the delta, or gzip where there is none
    std::size_t gzip = 0;
};

// One fetch of `page` by a client that holds `base`; every delta is decoded again and compared.
Step fetch(const std::string& page, const std::string* base_content, const BlockPlanOptions& plan,
           DeltaHistory& history) {
    Step step;
    step.instance = page.size();
    step.gzip = step.response = gzip_size(page);
    const std::uint32_t planned = base_content == nullptr ? 0 : plan_blocks(base_content->size(), plan);
    step.blocks = history.next_blocks(planned);
    if (step.blocks == 0) {
        history.plain(step.gzip, page.size());
        return step;
    }
    MemoryBase base(as_bytes(*base_content));
    IfBlock if_block;
    StringSink delta;
    StringSink rebuilt;
    if (make_signature(base, step.blocks, if_block) != Status::ok) throw ToolError(exit_corrupt, "no signature");
    const auto encoder = make_encoder(if_block, {}, delta);
    const auto decoder = make_decoder(if_block, base, {}, rebuilt);
    if (encoder->push(as_bytes(page)) != Status::ok || encoder->finish() != Status::ok ||
        decoder->push(as_bytes(delta.text())) != Status::ok || decoder->finish() != Status::ok ||
        rebuilt.text() != page) {
        throw ToolError(exit_corrupt, "the delta does not give the page back");
    }
    step.request = if_block_line_size(format_if_block(if_block));
    step.response = delta.text().size();
    const DecoderStats stats = decoder->stats();
    history.delta(step.request, step.response, page.size(), stats.literal_bytes, stats.literal_delta_bytes);
    return step;
}

double percent(std::size_t part, std::size_t whole) {
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_step(const Step& step, bool json, bool first) {
    const std::size_t cost = step.request + step.response;
    if (json) {
        std::printf(
            "%s\n    {\"version\": %s, \"instance_bytes\": %zu, \"blocks\": %u, \"request_bytes\": %zu, "
            "\"response_bytes\": %zu, \"gzip_bytes\": %zu}",
            first ? "" : ",", json_string(step.path).c_str(), step.instance, step.blocks, step.request, step.response,
            step.gzip);
        return;
    }
    std::printf("%9zu %6u %8zu %9zu %9zu %6.1f%%%s  %s\n", step.instance, step.blocks, step.request, step.response,
                step.gzip, percent(cost, step.gzip), cost > step.gzip ? " loses" : "      ", step.path.c_str());
}

}  // namespace

int simulate_command(const Arguments& arguments) {
    const Options options(arguments, {"--protocol", "--blocks", "--max-header"}, {"--json"});
    options.check_protocol();
    const bool json = options.has("--json");
    const auto& paths = options.rest(1, SIZE_MAX);
    BlockPlanOptions plan;
    if (options.value("--blocks") != "auto") {
        plan.blocks = static_cast<std::uint32_t>(options.number("--blocks", 1, max_blocks, 0));
    }
    plan.max_field = options.number("--max-header", 64, 65536, plan.max_field);

    // All is computed before anything is printed: a file that cannot be read leaves no half of a table.
    DeltaHistory history;
    std::optional<std::string> base;
    std::vector<Step> steps;
    Step total;
    for (const std::string& path : paths) {
        std::string page = read_file(path);
        Step& step = steps.emplace_back(fetch(page, base ? &*base : nullptr, plan, history));
        step.path = path;
        // The first fetch is plain in any case: the totals are about the others.
        if (base) {
            total.instance += step.instance;
            total.request += step.request;
            total.response += step.response;
            total.gzip += step.gzip;
        }
        base = std::move(page);
    }

    std::printf("%s",
                json ? "{\n  \"steps\": [" : " instance blocks  request  response      gzip   cost        version\n");
    for (const Step& step : steps) print_step(step, json, &step == &steps.front());
    const double cost = percent(total.request + total.response, total.gzip);
    if (json) {
        std::printf(
            "\n  ],\n  \"total\": {\"instance_bytes\": %zu, \"request_bytes\": %zu, \"response_bytes\": %zu, "
            "\"gzip_bytes\": %zu, \"percent_of_gzip\": %.1f}\n}\n",
            total.instance, total.request, total.response, total.gzip, cost);
    } else {
        std::printf("%9zu        %8zu %9zu %9zu %6.1f%%        total after the first\n", total.instance, total.request,
                    total.response, total.gzip, cost);
    }
    finish_stdout();
    return exit_done;
}

}  // namespace crcsync::tool
