// What happens to a request on its way upstream: whether it may be answered by a delta, against which base, and what is
// asked of the upstream.
#pragma once

#include "apache.h"
#include "request_state.h"

namespace crcsync::client {

// The handler hook. Runs after mod_cache and before mod_proxy, and is so reached only by requests that go upstream,
// with CacheQuickHandler on or off. Always DECLINED: mod_proxy is to handle the request.
int prepare_request(request_rec* r);

// The same for a request whose response was of no use, and that is handed to mod_proxy once more: without If-Block.
void prepare_again(request_rec* r, const RequestState& before);

// Bytes that a request's head will have upstream, about.
std::size_t request_head_size(const request_rec* r);

}  // namespace crcsync::client
