// Origins that have asked for what is kept of them to be forgotten (Clear-Site-Data, W3C, section 3.1: `"cache"`,
// `"*"`).
//
// The keys of an origin's bases contain its generation. Clearing gives the origin another one: no base that was kept
// before is ever found again, however many there are; htcacheclean takes the files away. The generation lies in the
// store, so that it outlives a restart, and in shared memory, so that a request does not look for it on disk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apache.h"
#include "reason.h"

namespace crcsync::client {

// Whether a Clear-Site-Data value asks for caches to be cleared.
bool clears_bases(std::string_view clear_site_data);

// The generation of `origin` (upstream_origin() gives it): 0 until it has cleared.
std::uint32_t generation_of(request_rec* r, const std::string& origin);

// Forgets all bases of `origin`. Gives null, or why the store did not take the mark: a restart may bring them back
// then. Where another request writes to the same place, this one waits for a moment.
const char* clear_origin(request_rec* r, const std::string& origin);

// From post_config.
void open_cleared_origins(server_rec* server);

}  // namespace crcsync::client
