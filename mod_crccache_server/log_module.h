// Files that log include this, so that `LogLevel crccache_server:debug` works on their lines.
#pragma once

#include "apache.h"

APLOG_USE_MODULE(crccache_server);
