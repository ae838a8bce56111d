#include "decode_filter.h"

#include <utility>

#include "base_keeper.h"
#include "cleared_origins.h"
#include "client_module.h"
#include "delta_response.h"
#include "fields.h"
#include "full_response.h"
#include "guard.h"
#include "loggable.h"
#include "pool.h"
#include "response_fields.h"

namespace crcsync::client {

namespace {

ap_filter_rec_t* filter_handle = nullptr;

// Whether mod_proxy reports a failure before any response came.
bool begins_with_error(apr_bucket_brigade* brigade) {
    for (apr_bucket* b = APR_BRIGADE_FIRST(brigade); b != APR_BRIGADE_SENTINEL(brigade); b = APR_BUCKET_NEXT(b)) {
        if (AP_BUCKET_IS_ERROR(b) || AP_BUCKET_IS_EOC(b)) return true;
        if (!APR_BUCKET_IS_METADATA(b)) return false;
    }
    return false;
}

// Whether something on the way may have taken Content-Encoding off a delta. Of a response that is bound to its bytes
// the server module makes none: the page is a stored delta itself, which its reader wants as it is.
bool may_be_unmarked_delta(const request_rec* r) {
    return has_tag_suffix(r) || !is_bound_to_its_bytes(r);
}

apr_status_t decode_filter(ap_filter_t* f, apr_bucket_brigade* brigade) {
    auto* filter = static_cast<DecodeFilter*>(f->ctx);
    if (filter == nullptr) {
        // Configured by name (SetOutputFilter), not by our hook: it has no request to work for.
        ap_remove_output_filter(f);
        return ap_pass_brigade(f->next, brigade);
    }
    return guard(
        f->r, decode_filter_name, [&] { return filter->pass(f, brigade); }, [&] { return filter->fail(f, brigade); });
}

}  // namespace

void register_decode_filter() {
    filter_handle = ap_register_output_filter(decode_filter_name, decode_filter, nullptr, decode_filter_type);
}

void add_decode_filter(RequestState& state) {
    state.filter = make_in_pool<DecodeFilter>(state.r->pool, state);
    ap_add_output_filter_handle(filter_handle, state.filter, state.r, state.r->connection);
}

bool is_first_filter(const RequestState& state) {
    const ap_filter_t* f = state.r->output_filters;
    // Ours too may have been added by name: it does nothing then.
    while (f->ctx != state.filter && f->frec == filter_handle) f = f->next;
    return f->ctx == state.filter;
}

void remove_decode_filter(RequestState& state) {
    for (ap_filter_t* f = state.r->output_filters; f != nullptr; f = f->next) {
        if (f->ctx != state.filter) continue;
        ap_remove_output_filter(f);
        break;
    }
    state.filter->release();
}

apr_status_t DecodeFilter::pass(ap_filter_t* f, apr_bucket_brigade* brigade) {
    if (state_.recovery != Recovery::none) {
        apr_brigade_cleanup(brigade);
        return APR_EGENERAL;
    }
    if (!begun_) return begin(f, brigade);
    return body_ ? body_->pass(f, brigade) : ap_pass_brigade(f->next, brigade);
}

apr_status_t DecodeFilter::step_aside(ap_filter_t* f, apr_bucket_brigade* brigade) {
    ap_remove_output_filter(f);
    return ap_pass_brigade(f->next, brigade);
}

// The first call: the upstream's status and fields are known.
apr_status_t DecodeFilter::begin(ap_filter_t* f, apr_bucket_brigade* brigade) {
    // Before mod_cache sees them: it files entities under the request's fields.
    state_.restore_fields();
    if (begins_with_error(brigade)) {
        begun_ = true;
        // No answer at all: it may be the field that something on the way cannot bear.
        if (state_.sent_if_block) {
            apr_brigade_cleanup(brigade);
            state_.ledger.broke(Reason::upstream_error);
            return recover(Recovery::refetch, Reason::upstream_error);
        }
        state_.explain(Reason::upstream_error);
        return step_aside(f, brigade);
    }
    if (clears_bases(response_field(state_.r, "Clear-Site-Data"))) forget_origin();
    const bool capable = mend_common_fields(state_.r);
    body_ = choose_body(capable);
    begun_ = true;
    if (state_.recovery != Recovery::none || body_) return pass(f, brigade);
    return step_aside(f, brigade);
}

// How the response is treated; null if its body is none of our business, or recovery has been decided on.
std::unique_ptr<ResponseBody> DecodeFilter::choose_body(bool capable) {
    request_rec* r = state_.r;
    const bool has_body = r->header_only == 0 && r->status != HTTP_NO_CONTENT && r->status != HTTP_NOT_MODIFIED;
    const Coding coding = split_coding(r);
    const bool whole = r->status != HTTP_PARTIAL_CONTENT && response_field(r, "Content-Range").empty();

    if (coding.crcsync && has_body && !(state_.sent_if_block && whole)) {
        // Something on the way has given the answer to another request. It is no use to this reader.
        recover(state_.key ? Recovery::refetch : Recovery::bad_gateway, Reason::already_coded);
        return nullptr;
    }
    if (!state_.key) return nullptr;
    // It was If-Block that was refused, if the request without it is not.
    if (state_.is_refetch && state_.outcome.reason == Reason::refused_request && !is_refusal_of_if_block(r->status)) {
        state_.ledger.stop(Reason::refused_request);
    }
    if (state_.sent_if_block && is_refusal_of_if_block(r->status)) {
        recover(Recovery::refetch, Reason::refused_request);
        return nullptr;
    }
    if (r->status == HTTP_NOT_MODIFIED) {
        mend_not_modified_fields(r);
        if (!state_.is_refetch) state_.outcome.result = Result::not_modified;
        return nullptr;
    }
    if (!has_body) return nullptr;
    if (coding.crcsync) return std::make_unique<DeltaResponse>(state_, coding, DeltaResponse::Mark::coding);
    if (r->status != HTTP_OK) state_.explain(Reason::status);
    if (state_.sent_if_block && r->status == HTTP_OK && whole) {
        if (!capable) state_.explain(Reason::peer_without_crcsync);
        const bool stream = r->content_type != nullptr && fields::is_stream_type(r->content_type);
        // A coding that nobody knows may be ours, garbled on the way.
        if (!has_known_coding(coding) && !stream && may_be_unmarked_delta(r)) {
            const auto mark = has_tag_suffix(r) ? DeltaResponse::Mark::tag : DeltaResponse::Mark::none;
            return std::make_unique<DeltaResponse>(state_, coding, mark);
        }
    }
    return std::make_unique<FullResponse>(state_, coding.inner);
}

// The origin takes back what it has said so far, to any method and with any status.
void DecodeFilter::forget_origin() {
    request_rec* r = state_.r;
    state_.keep_refusal = Reason::cleared;
    const char* why = clear_origin(r, state_.origin);
    if (why == nullptr) return;
    ap_log_rerror(
        APLOG_MARK, APLOG_ERR, 0, r,
        "crcsync: %s: Clear-Site-Data: the store does not take it (%s): after a restart the old bases count again",
        loggable_url(r), why);
}

apr_status_t DecodeFilter::recover(Recovery recovery, Reason reason) {
    // Asked twice, an upstream that gives nothing useful is not asked again.
    const bool again = recovery == Recovery::refetch && !state_.is_refetch;
    state_.recovery = again ? Recovery::refetch : Recovery::bad_gateway;
    state_.outcome.reason = reason;
    return APR_EGENERAL;
}

apr_status_t DecodeFilter::pass_as_full(ap_filter_t* f, apr_bucket_brigade* brigade, std::string coding) {
    body_ = std::make_unique<FullResponse>(state_, std::move(coding));
    return body_->pass(f, brigade);
}

apr_status_t DecodeFilter::fail(ap_filter_t* f, apr_bucket_brigade* brigade) noexcept {
    using Progress = ResponseBody::Progress;
    const bool waiting = body_ && body_->progress() == Progress::waiting;
    const bool nothing_passed = !begun_ || is_holding() || waiting || state_.recovery != Recovery::none;
    const bool changed = body_ && body_->progress() == Progress::changed;
    state_.outcome.reason = Reason::fault;
    body_.reset();
    if (!nothing_passed && !changed) return step_aside(f, brigade);
    apr_brigade_cleanup(brigade);
    if (nothing_passed) return recover(state_.key ? Recovery::refetch : Recovery::bad_gateway, Reason::fault);
    // The rest of what the reader has a part of is lost: the connection must show it.
    f->c->aborted = 1;
    return APR_ECONNABORTED;
}

}  // namespace crcsync::client
