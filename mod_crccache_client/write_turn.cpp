#include "write_turn.h"

#include <functional>

#include "shared_memory.h"

namespace crcsync::client {

namespace {

// Keys that fall on the same place take turns too.
constexpr std::size_t place_count = 1024;

// A writer that was killed keeps its turn for so long, in seconds.
constexpr std::uint32_t longest_turn = 60;

using Place = std::atomic<std::uint32_t>;
Place* places = nullptr;  // set while one thread runs

Place* place_of(const std::string& key) {
    return places != nullptr ? places + std::hash<std::string>()(key) % place_count : nullptr;
}

std::uint32_t now() {
    return static_cast<std::uint32_t>(apr_time_sec(apr_time_now()));
}

bool is_running_since(std::uint32_t since) {
    return since != 0 && now() - since <= longest_turn;
}

}  // namespace

void open_write_turns(server_rec* server) {
    places = static_cast<Place*>(shared_memory(server, "crcsync-client-turns-1", place_count * sizeof(Place)));
}

WriteTurn::WriteTurn(const std::string& key) : place_(place_of(key)) {
    if (place_ == nullptr) {
        taken_ = true;
        return;
    }
    std::uint32_t since = place_->load(std::memory_order_relaxed);
    if (!is_running_since(since)) taken_ = place_->compare_exchange_strong(since, now());
}

bool WriteTurn::is_running(const std::string& key) {
    const Place* place = place_of(key);
    return place != nullptr && is_running_since(place->load(std::memory_order_relaxed));
}

WriteTurn::~WriteTurn() {
    if (taken_ && place_ != nullptr) place_->store(0);
}

}  // namespace crcsync::client
