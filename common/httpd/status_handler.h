// The handler crcsync-status: `SetHandler crcsync-status`.
#pragma once

#include "apache.h"

namespace crcsync {

// The content handler; each module registers it, and the first that is called answers for both. `?auto` prints every
// counter of both modules as lines "CRCSyncServerName: number", as mod_status writes them. Without `?auto` the same
// text. DECLINED for another handler.
int handle_status(request_rec* r);

}  // namespace crcsync
