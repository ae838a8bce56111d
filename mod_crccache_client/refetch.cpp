#include "refetch.h"

#include <mod_proxy.h>

#include <cstring>
#include <optional>

#include "client_module.h"
#include "decode_filter.h"
#include "guard.h"
#include "loggable.h"
#include "request_hook.h"
#include "request_state.h"

namespace crcsync::client {

namespace {

// mod_proxy has passed no EOS where the upstream ended its body by closing: what is held waits for one.
void end_body(request_rec* r) {
    apr_bucket_brigade* brigade = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    APR_BRIGADE_INSERT_TAIL(brigade, apr_bucket_eos_create(brigade->bucket_alloc));
    ap_pass_brigade(r->output_filters, brigade);
}

// mod_proxy's handler. It alone runs again: httpd's other hooks and handlers have done their work for this request, and
// the filters that wait for the response have seen nothing of the first one. An internal redirect would map the request
// anew, and might not lead it to the same place: rules may look at REDIRECT_STATUS, or have ended.
ap_HOOK_handler_t* find_proxy_handler() {
    const apr_array_header_t* hooks = ap_hook_get_handler();
    for (int i = 0; hooks != nullptr && i < hooks->nelts; ++i) {
        const auto& hook = APR_ARRAY_IDX(hooks, i, ap_LINK_handler_t);
        if (std::strcmp(hook.szName, "mod_proxy.c") == 0) return hook.pFunc;
    }
    return nullptr;
}

// The status that the request has then; nothing if it can't be done.
std::optional<int> fetch_again(RequestState& failed) {
    request_rec* r = failed.r;
    ap_HOOK_handler_t* proxy = find_proxy_handler();
    // A filter before ours has seen the first response, and does not start anew.
    if (proxy == nullptr || !failed.snapshot || !is_first_filter(failed)) return std::nullopt;
    ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, "crcsync: %s: fetching again (%s)", loggable_url(r),
                  name(failed.outcome.reason));
    remove_decode_filter(failed);
    failed.snapshot->restore(r);
    prepare_again(r, failed);
    const int status = proxy(r);
    return status == DECLINED ? HTTP_BAD_GATEWAY : status;
}

// Whether mod_proxy has given up waiting for an answer.
bool has_timed_out(int status, const request_rec* r) {
    return status == HTTP_GATEWAY_TIME_OUT ||
           (status == HTTP_BAD_GATEWAY && apr_table_get(r->notes, "proxy_timedout") != nullptr);
}

int recover(int* status, request_rec* r) {
    RequestState* state = find_state(r);
    if (state == nullptr) return DECLINED;
    state->restore_fields();
    if (r->connection->aborted != 0) return DECLINED;
    if (state->sent_if_block && state->recovery == Recovery::none) {
        const bool no_answer = *status == HTTP_BAD_GATEWAY && !state->filter->has_begun();
        if (is_refusal_of_if_block(*status)) {
            state->outcome.reason = Reason::refused_request;
            state->recovery = Recovery::refetch;
        } else if (has_timed_out(*status, r)) {
            // Who waits once more may wait in vain. Where that goes on, the page is asked for without If-Block.
            state->ledger.broke(Reason::upstream_error);
        } else if (no_answer) {
            state->ledger.broke(Reason::upstream_error);
            state->outcome.reason = Reason::upstream_error;
            state->recovery = Recovery::refetch;
        }
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
            if (const auto again = fetch_again(*state)) {
                *status = *again;
                return OK;
            }
            [[fallthrough]];
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
