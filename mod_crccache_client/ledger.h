// What all children know of a URL, beside its base: whether deltas pay, and since when and how long If-Block is not
// sent for it.
//
// A table of fixed size in anonymous shared memory that hangs on the process pool, so that it outlives graceful
// restarts. No locks: every entry is a few atomic numbers, and each reader takes any value as valid. Two children that
// write at once may lose one lesson; a URL that others push out starts anew. Neither costs more than a few bytes.
#pragma once

#include <atomic>
#include <cstdint>

#include "apache.h"
#include "block_plan.h"
#include "reason.h"

namespace crcsync::client {

// One URL's entry. Times are seconds since the epoch; all zero is a URL of which nothing is known.
struct LedgerEntry {
    std::atomic<std::uint64_t> url;
    std::atomic<std::uint64_t> history;  // a DeltaHistory
    std::atomic<std::uint32_t> stopped_until;
    std::atomic<std::uint32_t> stop_reason;
    std::atomic<std::uint32_t> last_mismatch;
    std::atomic<std::uint32_t> breaks;  // in a row
    std::atomic<std::uint32_t> last_use;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// A URL's page of the ledger. Without shared memory there are none: then everything is allowed and nothing is learned.
class LedgerPage {
public:
    explicit LedgerPage(LedgerEntry* entry = nullptr) : entry_(entry) {}

    // Why no If-Block may be sent now; Reason::none if it may.
    Reason stopped() const;

    // Sends no If-Block for so many seconds: at most an hour.
    void stop(Reason reason, std::uint32_t seconds = 3600);

    // A delta could not be used. The second within an hour stops If-Block for one.
    void mismatch(Reason reason);

    // There was no answer to If-Block, which may be what something on the way makes of the field, or just an upstream
    // in trouble. The eighth in a row, and each after it, stops If-Block for five minutes.
    void broke(Reason reason);

    // See DeltaHistory.
    std::uint32_t next_blocks(std::uint32_t planned);
    void plain(std::uint64_t wire, std::uint64_t instance);
    void refused();
    void delta(std::uint64_t request, std::uint64_t wire, std::uint64_t instance, std::uint64_t literal_bytes,
               std::uint64_t literal_wire);

private:
    LedgerEntry* entry_;
};

// Finds the ledger of this process or makes it. From post_config.
void open_ledger(server_rec* server);

// The page for a hash of a URL (not 0).
LedgerPage ledger_page(std::uint64_t url);

}  // namespace crcsync::client
