// The output filter CRCSYNC_ENCODE: decides on the first data what becomes of a response, and makes the delta.
#pragma once

#include "apache.h"

namespace crcsync::server {

inline constexpr const char* encode_filter_name = "CRCSYNC_ENCODE";

void register_encode_filter();

// Adds the filter to `r`'s chain, once. It sets the fields that every response of an enabled server carries; a delta
// it makes only where nothing forbids it.
void add_encode_filter(request_rec* r);

}  // namespace crcsync::server
