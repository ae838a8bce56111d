#include "yardstick_2009.h"

#include "polynomial.h"

namespace crcsync::bench {

namespace {

// A call for each piece of data, however short: as it was.
[[gnu::noinline]] std::uint64_t bytewise(std::uint64_t crc, const std::uint8_t* data, std::size_t size) {
    for (; size > 0; ++data, --size) crc = polynomial::crc_of_byte[(crc ^ *data) & 255] ^ (crc >> 8);
    return crc;
}

std::vector<std::uint64_t> leaving_table(std::size_t block) {
    const std::vector<std::uint8_t> zeros(block);
    std::vector<std::uint64_t> table(256);
    for (unsigned b = 0; b < 256; ++b) table[b] = bytewise(polynomial::crc_of_byte[b], zeros.data(), block);
    return table;
}

}  // namespace

Yardstick2009::Yardstick2009(std::span<const std::uint64_t> hashes, std::size_t normal, std::size_t last)
    : leaving_normal_(leaving_table(normal)),
      leaving_last_(leaving_table(last)),
      last_hash_(hashes.back()),
      normal_(normal),
      last_(last) {
    std::size_t size = 1;
    while (size < hashes.size()) size *= 2;
    buckets_.assign(size, no_entry);
    for (const std::uint64_t hash : hashes.first(hashes.size() - 1)) {
        std::size_t& bucket = buckets_[hash & (size - 1)];
        entries_.push_back({hash, bucket});
        bucket = entries_.size() - 1;
    }
}

std::size_t Yardstick2009::scan(Bytes page) {
    std::size_t matches = 0;
    std::uint64_t normal = 0;
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < page.size(); ++i) {
        normal = bytewise(normal, &page[i], 1);
        if (i >= normal_) normal ^= leaving_normal_[page[i - normal_]];
        last = bytewise(last, &page[i], 1);
        if (i >= last_) last ^= leaving_last_[page[i - last_]];

        if (i + 1 >= normal_) {
            std::size_t entry = buckets_[normal & (buckets_.size() - 1)];
            while (entry != no_entry && entries_[entry].hash != normal) entry = entries_[entry].next;
            matches += entry != no_entry ? 1 : 0;
        }
        if (i + 1 >= last_) matches += last == last_hash_ ? 1 : 0;
    }
    return matches;
}

}  // namespace crcsync::bench
