// The If-Block parser: what it takes is within its limits and comes back the same from a formatted value; and an
// encoder can be made from it, whatever the hashes are.
//
// Input: a byte that chooses the limit of a block's size, then the field value.
#include "if_block.h"

#include "encoder.h"
#include "target.h"

using namespace crcsync;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::uint64_t max_block = std::uint64_t{1} << input.byte() % 64;
    const std::string_view value = as_text(input.rest());

    IfBlock parsed;
    const Status limited = parse_if_block(value, max_block, parsed);
    IfBlock any;
    const Status status = parse_if_block(value, UINT64_MAX, any);
    FUZZ_CHECK(status == Status::ok || limited == status);
    if (status != Status::ok) return 0;

    FUZZ_CHECK(value.size() <= max_if_block_value);
    FUZZ_CHECK(any.version == 1);
    const BlockLayout& layout = any.layout;
    FUZZ_CHECK(layout.count >= 1 && layout.count <= max_blocks && layout.count <= layout.size);
    FUZZ_CHECK(any.hashes.size() == layout.count);
    FUZZ_CHECK(layout.offset(layout.count - 1) + layout.last() == layout.size);
    FUZZ_CHECK(limited == (layout.last() <= max_block ? Status::ok : Status::block_limit));

    const std::string formatted = format_if_block(any);
    FUZZ_CHECK(formatted.size() == if_block_value_size(layout.size, layout.count));
    IfBlock again;
    FUZZ_CHECK(parse_if_block(formatted, UINT64_MAX, again) == Status::ok);
    FUZZ_CHECK(again.version == any.version && again.hashes == any.hashes);
    FUZZ_CHECK(again.layout.size == layout.size && again.layout.count == layout.count);

    StringSink out;
    const auto encoder = make_encoder(any, {}, out);
    FUZZ_CHECK(encoder != nullptr);
    FUZZ_CHECK(encoder->push(as_bytes(value)) == Status::ok);
    FUZZ_CHECK(encoder->finish() == Status::ok);
    return 0;
}
