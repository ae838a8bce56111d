// The module record, for the files that log under the module's name or look up what hangs on it.
#pragma once

#include "apache.h"

extern "C" {
APLOG_USE_MODULE(crccache_client);
}
