// A request as mod_proxy finds it. mod_proxy, and what the upstream sends, change it: put back, it can be handed to
// mod_proxy once more, and goes where it went before.
#pragma once

#include "apache.h"

namespace crcsync::client {

class RequestSnapshot {
public:
    // Remembers `r` as it is. Tables are copied, what they hold is not: it lives as long as the request.
    explicit RequestSnapshot(const request_rec* r);

    // Puts it back. Once only: the request gets the copies.
    void restore(request_rec* r);

    int no_cache() const { return no_cache_; }

private:
    apr_table_t* headers_in_;
    apr_table_t* headers_out_;
    apr_table_t* err_headers_out_;
    apr_table_t* trailers_out_;
    apr_table_t* subprocess_env_;
    apr_table_t* notes_;

    // SetHandler "proxy:..." becomes another handler, filename and kind of request.
    const char* handler_;
    char* filename_;
    char* path_info_;
    int proxyreq_;

    const char* content_type_;
    const char* content_encoding_;
    apr_array_header_t* content_languages_;
    apr_off_t clength_;
    apr_time_t mtime_;
    int status_;
    const char* status_line_;
    int no_cache_;
    int no_local_copy_;
};

}  // namespace crcsync::client
