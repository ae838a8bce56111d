// What of a request may stand in a log.
#pragma once

#include "apache.h"

namespace crcsync {

// The URL without user, password and query: those hold secrets, and in a forward proxy r->uri has all of them.
inline const char* loggable_url(const request_rec* r) noexcept {
    return apr_uri_unparse(r->pool, &r->parsed_uri, APR_URI_UNP_OMITUSERINFO | APR_URI_UNP_OMITQUERY);
}

}  // namespace crcsync
