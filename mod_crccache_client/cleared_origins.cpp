#include "cleared_origins.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>

#include "base_store.h"
#include "digest.h"
#include "fields.h"
#include "hex.h"
#include "shared_memory.h"
#include "write_turn.h"

namespace crcsync::client {

namespace {

constexpr const char* generation_field = "Crcsync-Generation";

// How long a request waits for its turn to write a mark, in microseconds. Another's write takes some milliseconds.
constexpr apr_interval_time_t patience = 500'000;

// One number holds who it is about and the generation, so that no reader sees a mixture: 32 bits of the origin's hash,
// then the generation; 0 is an empty place. Origins that fall on the same place push each other out.
constexpr std::size_t place_count = 4096;
using Place = std::atomic<std::uint64_t>;
Place* places = nullptr;  // set while one thread runs

// How the store and the table know an origin.
struct Name {
    std::string entity;
    Place* place = nullptr;
    std::uint64_t tag = 0;

    explicit Name(const std::string& origin) {
        const Sha1Value hash = sha1(as_bytes(origin));
        entity = "crcsync-origin-1:" + hex(hash);
        std::uint32_t index = 0;
        std::uint32_t high = 0;
        std::memcpy(&index, hash.data(), sizeof(index));
        std::memcpy(&high, hash.data() + sizeof(index), sizeof(high));
        tag = static_cast<std::uint64_t>(high | 1) << 32;
        if (places != nullptr) place = places + index % place_count;
    }

    // What the place holds: 0 without shared memory.
    std::uint64_t look() const { return place != nullptr ? place->load(std::memory_order_relaxed) : 0; }

    // Whether that is about this origin.
    bool owns(std::uint64_t content) const { return (content & ~std::uint64_t{0xffffffff}) == tag; }

    void remember(std::uint32_t generation) const {
        if (place != nullptr) place->store(tag | generation, std::memory_order_relaxed);
    }

    // The same, unless the place has come to hold something else than `seen`, which is changed to that then.
    void remember_instead_of(std::uint64_t& seen, std::uint32_t generation) const {
        if (place != nullptr) place->compare_exchange_strong(seen, tag | generation, std::memory_order_relaxed);
    }
};

}  // namespace

bool clears_bases(std::string_view clear_site_data) {
    const auto members = fields::split_list(clear_site_data);
    return std::any_of(members.begin(), members.end(),
                       [](auto member) { return member == R"("cache")" || member == R"("*")"; });
}

std::uint32_t generation_of(request_rec* r, const std::string& origin) {
    const Name name(origin);
    std::uint64_t seen = name.look();
    if (name.owns(seen)) return static_cast<std::uint32_t>(seen);
    const std::string text = BaseStore(r).read_field(name.entity, generation_field);
    std::uint32_t generation = 0;
    // What is no number is as good as a generation of its own, and none at all.
    std::from_chars(text.data(), text.data() + text.size(), generation);
    name.remember_instead_of(seen, generation);
    // The origin may have cleared since the store was read: what it said then counts.
    return name.owns(seen) ? static_cast<std::uint32_t>(seen) : generation;
}

const char* clear_origin(request_rec* r, const std::string& origin) {
    const Name name(origin);
    // Not a time: a clock that was set back must not lead back to a generation that was.
    const std::uint32_t generation = ap_random_pick(1, 0x7fffffff);
    name.remember(generation);
    const WriteTurn turn(name.entity, patience);
    if (!turn.taken()) {
        name.remember(generation);
        return "others were writing";
    }
    // Of two clearings, the one that is written last is remembered last. And who has read the store before the mark was
    // there, after another origin had taken the place, may have left the old generation in it.
    const Reason reason = BaseStore(r).write_field(name.entity, generation_field, std::to_string(generation));
    name.remember(generation);
    return reason == Reason::none ? nullptr : crcsync::name(reason);
}

void open_cleared_origins(server_rec* server) {
    places = static_cast<Place*>(shared_memory(server, "crcsync-client-origins-1", place_count * sizeof(Place)));
}

}  // namespace crcsync::client
