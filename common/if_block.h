// The If-Block request field: what a client tells about its base.
//
//     If-Block: v=1; fs=84240; h=<base64 of N CRC-64 values, each in network byte order>
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "block_layout.h"
#include "status.h"

namespace crcsync {

struct IfBlock {
    unsigned version = 1;
    BlockLayout layout;
    std::vector<std::uint64_t> hashes;  // layout.count of them, block order
};

// Longest field value that the parser looks at, in bytes: 256 hashes need 2,732 characters of base64; the rest is
// room for parts that we do not know.
inline constexpr std::size_t max_if_block_value = 8192;

// Parses a field value. Parts may come in any order and unknown ones are ignored; a known part that stands twice,
// blanks or wrong padding in the base64 (missing padding is accepted), a size of 0, or a number of hashes that is 0,
// above 256 or above the size give Status::bad_if_block, another version Status::unsupported_version, a last block
// longer than `max_block` bytes Status::block_limit. `out` is valid only with Status::ok. Never allocates more than the
// value is long.
Status parse_if_block(std::string_view value, std::uint64_t max_block, IfBlock& out);

// The field value for `if_block`, which must hold layout.count hashes.
std::string format_if_block(const IfBlock& if_block);

// Length in bytes of the field value with `count` hashes for a base of `size` bytes.
std::size_t if_block_value_size(std::uint64_t size, std::uint32_t count);

// Bytes of the whole field line on the wire: "If-Block: ", the value, CR LF.
std::size_t if_block_line_size(std::string_view value);

}  // namespace crcsync
