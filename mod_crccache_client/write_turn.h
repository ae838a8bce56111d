// Who writes an entity of the store.
//
// mod_cache_disk puts an entity in place with two renames. Two writers of one entity can leave the header of the one
// with the body of the other, which is no entity at all. So one writes at a time. Who has a new instance of a page does
// not wait for another who has one too; who has something to say that nobody else says waits a little. A writer that
// died has no turn any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "apache.h"

namespace crcsync::client {

class WriteTurn {
public:
    // Takes the turn for an entity's key, if it is free, or becomes free within `patience` microseconds.
    explicit WriteTurn(const std::string& key, apr_interval_time_t patience = 0);
    ~WriteTurn();
    WriteTurn(const WriteTurn&) = delete;
    WriteTurn& operator=(const WriteTurn&) = delete;

    bool taken() const { return taken_; }

    // Whether somebody is writing the entity now.
    static bool is_running(const std::string& key);

private:
    bool take();

    std::atomic<std::uint64_t>* place_;  // its writer's process and when it began; 0: free
    std::uint64_t own_ = 0;              // what is there while the turn is ours
    bool taken_ = false;
};

// From post_config. Without shared memory every turn is free.
void open_write_turns(server_rec* server);

}  // namespace crcsync::client
