#include "request_snapshot.h"

namespace crcsync::client {

RequestSnapshot::RequestSnapshot(const request_rec* r)
    : headers_in_(apr_table_copy(r->pool, r->headers_in)),
      headers_out_(apr_table_copy(r->pool, r->headers_out)),
      err_headers_out_(apr_table_copy(r->pool, r->err_headers_out)),
      trailers_out_(apr_table_copy(r->pool, r->trailers_out)),
      subprocess_env_(apr_table_copy(r->pool, r->subprocess_env)),
      notes_(apr_table_copy(r->pool, r->notes)),
      handler_(r->handler),
      filename_(r->filename),
      path_info_(r->path_info),
      proxyreq_(r->proxyreq),
      content_type_(r->content_type),
      content_encoding_(r->content_encoding),
      content_languages_(r->content_languages),
      clength_(r->clength),
      mtime_(r->mtime),
      status_(r->status),
      status_line_(r->status_line),
      no_cache_(r->no_cache),
      no_local_copy_(r->no_local_copy) {}

void RequestSnapshot::restore(request_rec* r) {
    r->headers_in = headers_in_;
    r->headers_out = headers_out_;
    r->err_headers_out = err_headers_out_;
    r->trailers_out = trailers_out_;
    r->subprocess_env = subprocess_env_;
    r->notes = notes_;
    r->handler = handler_;
    r->filename = filename_;
    r->path_info = path_info_;
    r->proxyreq = proxyreq_;
    r->content_type = content_type_;
    r->content_encoding = content_encoding_;
    r->content_languages = content_languages_;
    r->clength = clength_;
    r->mtime = mtime_;
    r->status = status_;
    r->status_line = status_line_;
    r->no_cache = no_cache_;
    r->no_local_copy = no_local_copy_;
    // The end of the first body has set it, though no byte has reached the reader: an error must still get a body.
    r->eos_sent = 0;
}

}  // namespace crcsync::client
