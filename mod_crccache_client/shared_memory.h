// Memory that all children share: anonymous, on the process pool, so that it outlives graceful restarts.
#pragma once

#include <cstddef>

#include "apache.h"

namespace crcsync::client {

// The block of `size` zeroed bytes that `key` names, made at the first call. Null and a log line if there is none. From
// post_config. A graceful restart may load another version of the module: another layout needs another key.
void* shared_memory(server_rec* server, const char* key, std::size_t size);

}  // namespace crcsync::client
