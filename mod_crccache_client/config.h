// The directives' values, as they hold for one server, virtual host or directory.
#pragma once

#include <cstdint>

#include "apache.h"

namespace crcsync::client {

// A value and whether a directive has set it: what is not set is inherited.
template <class T>
struct Setting {
    T value;
    bool is_set = false;

    void set(T new_value) {
        value = new_value;
        is_set = true;
    }
    Setting over(const Setting& base) const { return is_set ? *this : base; }
};

struct Config {
    Setting<bool> enabled{false};
    Setting<std::uint32_t> blocks{0};                 // 0: as the page's size suggests
    Setting<std::uint64_t> max_header{2400};          // bytes of the If-Block field line
    Setting<std::uint64_t> min_base{1024};            // bytes
    Setting<std::uint64_t> max_base{64ULL << 20};     // bytes
    Setting<std::uint64_t> max_instance{1ULL << 30};  // bytes that a delta may expand to
    Setting<std::uint64_t> hold_memory{1ULL << 20};   // bytes of one instance, before a temporary file takes them
};

const Config& config_of(const request_rec* r);
const Config& config_of(const server_rec* server);

// Whether any section of the whole configuration says CRCSyncClient On: where none does, no hook works.
bool enabled_anywhere();

void forget_enabled();  // before a configuration is read

void* create_config(apr_pool_t* pool, char* directory);
void* merge_config(apr_pool_t* pool, void* base, void* add);
extern const command_rec directives[];

}  // namespace crcsync::client
