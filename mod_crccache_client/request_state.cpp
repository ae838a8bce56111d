#include "request_state.h"

#include "client_module.h"
#include "pool.h"

namespace crcsync::client {

void BorrowedField::change(request_rec* r, const char* value) {
    if (!changed_) {
        old_ = apr_table_getm(r->pool, r->headers_in, name_);
        changed_ = true;
    }
    if (value != nullptr) {
        apr_table_set(r->headers_in, name_, value);
    } else {
        apr_table_unset(r->headers_in, name_);
    }
}

void BorrowedField::restore(request_rec* r) {
    if (!changed_) return;
    changed_ = false;
    if (old_ != nullptr) {
        apr_table_setn(r->headers_in, name_, old_);
    } else {
        apr_table_unset(r->headers_in, name_);
    }
}

void RequestState::explain(Reason reason) {
    if (reason == Reason::none) return;
    for (const Reason weaker : {Reason::none, Reason::no_base, Reason::peer_without_crcsync}) {
        if (outcome.reason == weaker) outcome.reason = reason;
    }
}

void RequestState::restore_fields() {
    for (auto* field : {&if_block_field, &accept_encoding_field, &cache_control_field}) field->restore(r);
}

RequestState* find_state(const request_rec* r) {
    return static_cast<RequestState*>(ap_get_module_config(r->request_config, &crccache_client_module));
}

RequestState* make_state(request_rec* r) {
    auto* state = make_in_pool<RequestState>(r->pool, r);
    ap_set_module_config(r->request_config, &crccache_client_module, state);
    return state;
}

}  // namespace crcsync::client
