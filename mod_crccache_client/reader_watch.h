// Whether the reader is still there while a page is held back: nothing is written to him meanwhile, so that a broken
// connection would show only at the end, when the whole page has come over the slow link for nobody.
//
// A reset shows at once. A FIN may be a reader who has left, or one who has only closed his own direction (RFC 9293,
// section 3.6) and waits for his page. Probes tell in the end: from the FIN on the connection is probed, and the system
// of a reader who has closed his socket forgets the connection after a while (Linux: tcp_fin_timeout, a minute) and
// answers with a reset.
#pragma once

#include "apache.h"

namespace crcsync::client {

class ReaderWatch {
public:
    // `c` must outlive the object. A stream of HTTP/2 has no connection of its own to look at; mod_http2 does that.
    explicit ReaderWatch(conn_rec* c);

    // Cheap enough for each brigade: it looks once a second.
    bool is_gone();

private:
    bool look();
    void probe();

    conn_rec* c_;
    int socket_ = -1;  // -1: there is nothing to look at
    bool probing_ = false;
    apr_time_t last_look_;
};

}  // namespace crcsync::client
