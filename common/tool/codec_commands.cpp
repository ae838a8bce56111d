// signature, delta, patch: what the two modules do, on files.

#include <cstdio>

#include "block_plan.h"
#include "commands.h"
#include "decoder.h"
#include "encoder.h"
#include "files.h"
#include "options.h"
#include "signature.h"

namespace crcsync::tool {

namespace {

void check(Status status, const std::string& what) {
    if (status != Status::ok) throw ToolError(exit_corrupt, what + ": " + name(status));
}

}  // namespace

int signature_command(const Arguments& arguments) {
    const Options options(arguments, {"--protocol", "--blocks"}, {});
    options.check_protocol();
    const std::string content = read_file(options.rest(1, 1).front());
    if (content.empty()) throw ToolError(exit_corrupt, "an empty file is no base");

    MemoryBase base(as_bytes(content));
    BlockPlanOptions plan;
    auto blocks = static_cast<std::uint32_t>(options.number("--blocks", 1, max_blocks, 0));
    if (blocks == 0) blocks = plan_blocks(base.size(), plan);
    if (blocks == 0) blocks = 1;
    if (blocks > base.size()) throw ToolError(exit_usage, "more blocks than bytes");

    IfBlock if_block;
    check(make_signature(base, blocks, if_block), "signature");
    std::printf("%s\n", format_if_block(if_block).c_str());
    finish_stdout();
    return exit_done;
}

int delta_command(const Arguments& arguments) {
    const Options options(arguments, {"--if-block", "-o", "--level", "--buffer"}, {});
    const std::string& path = options.rest(1, 1).front();
    const IfBlock if_block = options.if_block();

    EncoderOptions encoding;
    encoding.compression_level = static_cast<int>(options.number("--level", 0, 9, 6));
    encoding.buffer_size = options.number("--buffer", 1, 1U << 30, encoding.buffer_size);
    OutputFile out(options.value("-o"));
    const auto encoder = make_encoder(if_block, encoding, out);
    read_pieces(path, [&](Bytes piece) { check(encoder->push(piece), "delta"); });
    check(encoder->finish(), "delta");
    out.commit();
    return exit_done;
}

int patch_command(const Arguments& arguments) {
    const Options options(arguments, {"--if-block", "-o", "--max-instance"}, {});
    const auto& paths = options.rest(2, 2);
    if (paths[0] == "-" && paths[1] == "-") throw ToolError(exit_usage, "only one file can be standard input");
    const IfBlock if_block = options.if_block();

    const std::string content = read_file(paths[0]);
    if (content.size() != if_block.layout.size) {
        throw ToolError(exit_corrupt, "the base has " + std::to_string(content.size()) +
                                          " bytes, the If-Block value says " + std::to_string(if_block.layout.size));
    }
    MemoryBase base(as_bytes(content));
    DecoderLimits limits;
    limits.max_instance = options.number("--max-instance", 0, UINT64_MAX, UINT64_MAX);
    OutputFile out(options.value("-o"));
    const auto decoder = make_decoder(if_block, base, limits, out);
    read_pieces(paths[1], [&](Bytes piece) { check(decoder->push(piece), paths[1]); });
    check(decoder->finish(), paths[1]);
    out.commit();
    return exit_done;
}

}  // namespace crcsync::tool
