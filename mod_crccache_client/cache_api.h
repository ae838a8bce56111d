// mod_cache's provider interface, as C++ can read it: cache_common.h has bit-fields named `public` and `private`.
#pragma once

#include <apr_date.h>
#include <apr_hooks.h>

#include "apache.h"

#define private private_
#define public public_
#include <cache_common.h>
#undef private
#undef public
#include <mod_cache.h>
