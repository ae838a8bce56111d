// The output filter CRCSYNC_ENCODE: decides on the first data what becomes of a response, and makes the delta.
#pragma once

#include "apache.h"

namespace crcsync::server {

inline constexpr const char* encode_filter_name = "CRCSYNC_ENCODE";

// After the content filters and CACHE_SAVE, so that a delta is made even of what this server's own cache holds, and
// never stored in it.
inline constexpr auto encode_filter_type = static_cast<ap_filter_type>(AP_FTYPE_CONTENT_SET + 2);

void register_encode_filter();

// Adds the filter to `r`'s chain, once. It sets the fields that every response of an enabled server carries; a delta
// it makes only where nothing forbids it.
void add_encode_filter(request_rec* r);

}  // namespace crcsync::server
