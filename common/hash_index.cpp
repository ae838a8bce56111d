#include "hash_index.h"

namespace crcsync {

HashIndex::HashIndex(std::span<const std::uint64_t> hashes) {
    std::uint32_t block = 0;
    for (const std::uint64_t hash : hashes) {
        ++block;
        const std::uint64_t top = hash >> (64 - filter_bits);
        filter_[top >> 6] |= std::uint64_t{1} << (top & 63);

        std::size_t at = slot_of(hash);
        while (table_[at].block_plus_1 != 0 && table_[at].hash != hash) at = (at + 1) & (slots - 1);
        if (table_[at].block_plus_1 == 0) table_[at] = {hash, block};
    }
}

std::optional<std::uint32_t> HashIndex::find(std::uint64_t hash) const {
    for (std::size_t at = slot_of(hash); table_[at].block_plus_1 != 0; at = (at + 1) & (slots - 1)) {
        if (table_[at].hash == hash) return table_[at].block_plus_1 - 1;
    }
    return std::nullopt;
}

}  // namespace crcsync
