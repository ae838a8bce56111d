#include "signature.h"

#include <algorithm>

#include "crc64.h"

namespace crcsync {

Status make_signature(Base& base, std::uint32_t count, IfBlock& out) {
    out.version = 1;
    out.layout = {base.size(), count};
    out.hashes.clear();
    if (count == 0 || count > max_blocks || count > base.size()) return Status::bad_if_block;

    out.hashes.reserve(count);
    std::vector<std::uint8_t> piece(std::min<std::uint64_t>(out.layout.last(), 64 * 1024));
    for (std::uint32_t block = 0; block < count; ++block) {
        std::uint64_t crc = 0;
        std::uint64_t offset = out.layout.offset(block);
        for (std::uint64_t left = out.layout.length(block); left > 0;) {
            const std::span<std::uint8_t> part(piece.data(), std::min<std::uint64_t>(left, piece.size()));
            if (!base.read(offset, part)) return Status::base_failed;
            crc = crc64(crc, part);
            offset += part.size();
            left -= part.size();
        }
        out.hashes.push_back(crc);
    }
    return Status::ok;
}

}  // namespace crcsync
