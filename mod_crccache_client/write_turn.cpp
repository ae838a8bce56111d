#include "write_turn.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "shared_memory.h"

namespace crcsync::client {

namespace {

// Keys that fall on the same place take turns too.
constexpr std::size_t place_count = 1024;

// A turn that lasts longer, in seconds, is over: its writer hangs, or another process has got the number of a dead one.
constexpr std::uint32_t longest_turn = 60;

// Between two looks at a turn that is waited for, in microseconds.
constexpr apr_interval_time_t pause = 5000;

using Place = std::atomic<std::uint64_t>;
Place* places = nullptr;  // set while one thread runs

Place* place_of(const std::string& key) {
    return places != nullptr ? places + std::hash<std::string>()(key) % place_count : nullptr;
}

std::uint32_t now() {
    return static_cast<std::uint32_t>(apr_time_sec(apr_time_now()));
}

// What stands in a place while this process writes.
std::uint64_t turn_of_ours() {
    return static_cast<std::uint64_t>(getpid()) << 32 | now();
}

bool is_running_turn(std::uint64_t turn) {
    if (turn == 0 || now() - static_cast<std::uint32_t>(turn) > longest_turn) return false;
    return kill(static_cast<pid_t>(turn >> 32), 0) == 0 || errno != ESRCH;
}

}  // namespace

void open_write_turns(server_rec* server) {
    places = static_cast<Place*>(shared_memory(server, "crcsync-client-turns-2", place_count * sizeof(Place)));
}

WriteTurn::WriteTurn(const std::string& key, apr_interval_time_t patience) : place_(place_of(key)), taken_(take()) {
    // Counted in pauses: the clock may be set meanwhile.
    for (; !taken_ && patience > 0; patience -= pause) {
        apr_sleep(pause);
        taken_ = take();
    }
}

bool WriteTurn::take() {
    if (place_ == nullptr) return true;
    std::uint64_t turn = place_->load(std::memory_order_relaxed);
    own_ = turn_of_ours();
    return !is_running_turn(turn) && place_->compare_exchange_strong(turn, own_);
}

bool WriteTurn::is_running(const std::string& key) {
    const Place* place = place_of(key);
    return place != nullptr && is_running_turn(place->load(std::memory_order_relaxed));
}

WriteTurn::~WriteTurn() {
    // Not if it lasted so long that another has it now.
    if (taken_ && place_ != nullptr) place_->compare_exchange_strong(own_, 0);
}

}  // namespace crcsync::client
