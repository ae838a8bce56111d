// The end of a request whose response could not be used: when mod_proxy is through with it, the same request is
// handed to it once more, without If-Block, and the reader never knows. If even that gives nothing, he gets a clean
// 502.
//
// It happens in mod_proxy's request_status hook, not in the filter: the connection to the upstream is free by then,
// even where the upstream broke, and responses that never reach a filter (ProxyErrorOverride) are seen too.
#pragma once

#include "apache.h"

namespace crcsync::client {

// Registers the hook.
void register_refetch();

}  // namespace crcsync::client
