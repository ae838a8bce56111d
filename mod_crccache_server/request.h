// What the server module knows of one request of a client, from post_read_request to the log, through all internal
// redirects.
#pragma once

#include <optional>

#include "apache.h"
#include "config.h"
#include "outcome.h"

namespace crcsync::server {

// A request field that is changed on its way to the handler, and can be put back.
struct ChangedField {
    const char* name = nullptr;
    const char* original = nullptr;  // null: it was not there
    const char* changed = nullptr;   // null: it was taken out
};

// Lives in the pool of the first request of a chain of internal redirects, and hangs on that one's request_config:
// a redirected request shares its headers_in, so what was changed there must be known to both.
struct Request {
    const char* if_block = nullptr;  // the field's value as it came; null: the request has none
    Reason refusal = Reason::none;   // why no response to this request can be a delta; none: it can
    Outcome outcome;                 // what has become of it so far
    bool finished = true;            // false while a delta is being sent

    // While fields are changed. The first `changed_count` are in use.
    static constexpr int max_changed = 5;
    ChangedField changed[max_changed];
    int changed_count = 0;
};

// The one of `r`'s chain; null if there is none.
Request* find_request(const request_rec* r);

// The same; made if there is none yet.
Request& get_request(request_rec* r);

// Why the section that `r` is in now sends no deltas: disabled, or env for no-crcsync; none if it may.
Reason section_refusal(const request_rec* r);

// Changes the request's fields for the handler, or puts them back, as the section that `r` is in now wants it: once in
// post_read_request with the server's settings, which a quick handler uses, again where sections and SetEnvIf are
// known.
//
// A request with If-Block loses that field, so that no further hop makes a delta of it, and our suffixes in its
// conditionals, so that the origin knows its own tags. If its response can be a delta, the origin is asked for
// identity coding.
void settle_fields(request_rec* r);

// Notes that nothing is done for `r` because of its section, for the log. A section that is off makes notes only of
// requests that have asked for a delta.
void note_bypass(request_rec* r, Reason refusal);

// The tag for a 304: `tag` is the origin's; if the request's own conditional had it with one of our suffixes, and only
// so, the suffix is put back. Nothing if `tag` stays.
std::optional<std::string> tag_for_not_modified(const Request& request, std::string_view tag);

}  // namespace crcsync::server
