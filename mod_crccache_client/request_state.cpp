#include "request_state.h"

#include "client_module.h"
#include "pool.h"

namespace crcsync::client {

namespace {

// What hangs on a request_rec. A plain struct: most requests need no state.
struct Slot {
    apr_table_t* reader;  // the reader's fields
    RequestState* state;
};

Slot* find_slot(const request_rec* r) {
    return static_cast<Slot*>(ap_get_module_config(r->request_config, &crccache_client_module));
}

Slot& slot_of(request_rec* r) {
    Slot* slot = find_slot(r);
    if (slot == nullptr) {
        slot = static_cast<Slot*>(apr_pcalloc(r->pool, sizeof(Slot)));
        ap_set_module_config(r->request_config, &crccache_client_module, slot);
    }
    return *slot;
}

}  // namespace

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
    const Slot* slot = find_slot(r);
    return slot != nullptr ? slot->state : nullptr;
}

RequestState* make_state(request_rec* r) {
    Slot& slot = slot_of(r);
    slot.state = make_in_pool<RequestState>(r->pool, r);
    return slot.state;
}

void remember_reader(request_rec* r) {
    const Slot* before = r->prev != nullptr ? find_slot(r->prev) : nullptr;
    // A redirect shares the table of the request before it, with all that was changed there.
    slot_of(r).reader =
        before != nullptr && before->reader != nullptr ? before->reader : apr_table_copy(r->pool, r->headers_in);
}

apr_table_t* reader_fields(const request_rec* r) {
    const Slot* slot = find_slot(r);
    return slot != nullptr && slot->reader != nullptr ? apr_table_copy(r->pool, slot->reader) : nullptr;
}

}  // namespace crcsync::client
