// What the configuration says of other filters, looked at when the server starts: a filter that stands between ours and
// the slow link changes deltas, and so takes them all away without any error that somebody would see.
#pragma once

#include "apache.h"

namespace crcsync {

// One of our filters, as far as others matter to it.
struct OwnFilter {
    const char* name;       // "CRCSYNC_ENCODE"
    ap_filter_type type;    // its place in the chain
    const char* directive;  // what switches it on, and adds it to the chain
    bool encodes;           // deltas are behind it in the chain; before it, if it decodes
};

// Writes a warning, with file and line, for each directive that puts a filter where it would meet deltas, that names
// our filter itself (which has no effect), or, for one that encodes, that asks the origin for codings which cannot be
// undone. Directives where our module is off don't count. What .htaccess files and other modules do when a request
// comes is not seen. From post_config; does not throw.
void warn_about_filters(const OwnFilter& own, int module_index, server_rec* server) noexcept;

}  // namespace crcsync
