#include "refetch.h"

#include <mod_proxy.h>

#include <cstring>

#include "client_module.h"
#include "decode_filter.h"
#include "guard.h"
#include "loggable.h"
#include "request_state.h"

namespace crcsync::client {

namespace {

// mod_proxy has passed no EOS where the upstream ended its body by closing: what is held waits for one.
void end_body(request_rec* r) {
    apr_bucket_brigade* brigade = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    APR_BRIGADE_INSERT_TAIL(brigade, apr_bucket_eos_create(brigade->bucket_alloc));
    ap_pass_brigade(r->output_filters, brigade);
}

// mod_cache's filter would remove the entity that the second fetch stores. mod_cache itself takes it out in this case.
void remove_cache_filter(request_rec* r) {
    for (ap_filter_t* f = r->output_filters; f != nullptr; f = f->next) {
        if (std::strcmp(f->frec->name, "cache_remove_url") == 0) {
            ap_remove_output_filter(f);
            return;
        }
    }
}

void fetch_again(RequestState& state) {
    request_rec* r = state.r;
    remove_cache_filter(r);
    // What modules have added stays out of the second request: they run again. mod_cache's conditionals above all,
    // whose 304 the reader must not get.
    if (apr_table_t* reader = reader_fields(r)) r->headers_in = reader;
    r->status = HTTP_OK;
    r->status_line = nullptr;
    r->no_cache = state.no_cache;
    ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, "crcsync: %s: fetching again (%s)", loggable_url(r),
                  name(state.outcome.reason));
    ap_internal_redirect(r->unparsed_uri, r);
}

int recover(int* status, request_rec* r) {
    RequestState* state = find_state(r);
    if (state == nullptr) return DECLINED;
    state->restore_fields();
    if (r->connection->aborted != 0) return DECLINED;
    if (state->sent_if_block && state->recovery == Recovery::none && is_refusal_of_if_block(*status)) {
        state->outcome.reason = Reason::refused_request;
        state->recovery = Recovery::refetch;
    }
    if (state->filter != nullptr && state->filter->is_holding() && state->recovery == Recovery::none) {
        if (ap_is_HTTP_ERROR(*status)) {
            state->filter->recover(Recovery::refetch, Reason::upstream_error);
        } else {
            end_body(r);
        }
    }

    switch (state->recovery) {
        case Recovery::none: return DECLINED;
        case Recovery::refetch:
            fetch_again(*state);
            *status = OK;
            return OK;
        case Recovery::bad_gateway:
            ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "crcsync: %s: the upstream sends nothing that can be used (%s)",
                          loggable_url(r), name(state->outcome.reason));
            r->status = HTTP_OK;
            r->status_line = nullptr;
            *status = HTTP_BAD_GATEWAY;
            return OK;
    }
    return DECLINED;
}

int on_request_status(int* status, request_rec* r) {
    return guard(
        r, "the recovery", [&] { return recover(status, r); },
        [&] {
            *status = HTTP_BAD_GATEWAY;
            return OK;
        });
}

}  // namespace

void register_refetch() {
    APR_OPTIONAL_HOOK(proxy, request_status, on_request_status, nullptr, nullptr, APR_HOOK_LAST);
}

}  // namespace crcsync::client
