// Counters that all children of a server share, one block for each module.
//
// They live in anonymous shared memory that belongs to the process pool, so they survive graceful restarts. Each is
// one relaxed atomic addition; readers see values that may be a moment apart.
#pragma once

#include <atomic>
#include <cstdint>

#include "apache.h"
#include "outcome.h"

namespace crcsync {

struct Counters {
    std::atomic<std::uint64_t> requests;
    std::atomic<std::uint64_t> results[result_count];
    std::atomic<std::uint64_t> reasons[reason_count];
    std::atomic<std::uint64_t> instance_bytes;
    std::atomic<std::uint64_t> wire_bytes;
    std::atomic<std::uint64_t> request_bytes;
    std::atomic<std::uint64_t> literal_bytes;
    std::atomic<std::uint64_t> faults;  // outcomes with Reason::fault; a module adds others itself

    // Counts one request. Safe from any thread and child.
    void add(const Outcome& outcome);
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// The counters of the module `prefix` ("CRCSyncServer" or "CRCSyncClient"), made at first call and found again at
// later ones (post_config runs at every restart). Call from post_config; also makes them known to the status handler.
// Null and a log line if there is no shared memory.
Counters* open_counters(const char* prefix, server_rec* server);

}  // namespace crcsync
