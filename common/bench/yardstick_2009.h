// The scan as the 2009 implementation did it: the yardstick for ours. Kept for measuring only.
//
// It rolls two windows over the page, one byte at a time: the normal one, and another for the longer last block. Each
// step calls the CRC function for a single byte, takes the leaving byte out with a table, and follows a bucket's chain.
// The tables come from pushing block after block of zeros through the bytewise CRC, 256 times for each window.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bytes.h"

namespace crcsync::bench {

class Yardstick2009 {
public:
    // `hashes`: the blocks' CRCs, the last block's last; lengths in bytes.
    Yardstick2009(std::span<const std::uint64_t> hashes, std::size_t normal, std::size_t last);

    // Windows of `page` that are among the hashes. For a page without matches, which is what is measured: after a match
    // it goes on as if there had been none.
    std::size_t scan(Bytes page);

private:
    static constexpr std::size_t no_entry = SIZE_MAX;
    struct Entry {
        std::uint64_t hash;
        std::size_t next;
    };

    std::vector<std::uint64_t> leaving_normal_;
    std::vector<std::uint64_t> leaving_last_;
    std::vector<Entry> entries_;
    std::vector<std::size_t> buckets_;
    std::uint64_t last_hash_;
    std::size_t normal_;
    std::size_t last_;
};

}  // namespace crcsync::bench
