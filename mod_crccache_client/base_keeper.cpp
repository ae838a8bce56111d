#include "base_keeper.h"

#include <atomic>

#include "client_module.h"
#include "fields.h"
#include "loggable.h"
#include "response_fields.h"

namespace crcsync::client {

namespace {

// A store that is down would write a line for each response: one a second in each child says as much.
bool may_log_now() {
    static std::atomic<apr_time_t> last{0};
    const apr_time_t now = apr_time_now();
    apr_time_t before = last.load(std::memory_order_relaxed);
    return (now - before > APR_USEC_PER_SEC || now < before) && last.compare_exchange_strong(before, now);
}

std::optional<std::uint64_t> content_length(const request_rec* r) {
    const std::string text = response_field(r, "Content-Length");
    apr_off_t length = 0;
    if (text.empty() || ap_parse_strict_length(&length, text.c_str()) == 0) return std::nullopt;
    return static_cast<std::uint64_t>(length);
}

}  // namespace

Reason base_refusal(const RequestState& state) {
    const request_rec* r = state.r;
    if (state.keep_refusal != Reason::none) return state.keep_refusal;
    if (r->status != HTTP_OK) return Reason::status;
    if (!response_field(r, "Content-Range").empty()) return Reason::range;
    const std::string control = response_field(r, "Cache-Control");
    if (fields::list_has_word(control, "no-store")) return Reason::no_store;
    if (fields::list_has_word(control, "private")) return Reason::private_response;
    for (const char* name : {"Set-Cookie", "Set-Cookie2"}) {
        if (!response_field(r, name).empty()) return Reason::private_response;
    }
    // It ends when somebody hangs up, if ever.
    if (r->content_type != nullptr && fields::is_stream_type(r->content_type)) return Reason::event_stream;
    return Reason::none;
}

Reason keep_base(RequestState& state, HeldInstance& instance) {
    request_rec* r = state.r;
    if (instance.size() < state.config.min_base.value) return Reason::too_small;
    if (instance.size() > state.config.max_base.value) return Reason::too_large;
    // Somebody has seen that the response is not whole.
    if (r->no_cache != state.snapshot->no_cache() || r->connection->aborted != 0) return Reason::upstream_error;
    const VaryNames names = parse_vary_names(response_field(r, "Vary"));
    const Reason reason = BaseStore(r).keep(*state.key, names, instance, state.found);
    if (reason == Reason::store_error && may_log_now()) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      "crcsync: %s: the store cannot keep a base of %" APR_UINT64_T_FMT " bytes", loggable_url(r),
                      static_cast<apr_uint64_t>(instance.size()));
    }
    return reason;
}

std::optional<Inflater::Format> inflater_format(std::string_view coding) {
    if (fields::split_list(coding).size() != 1) return std::nullopt;
    if (fields::list_has(coding, "deflate")) return Inflater::Format::deflate;
    if (fields::list_has(coding, "gzip") || fields::list_has(coding, "x-gzip")) return Inflater::Format::gzip;
    return std::nullopt;
}

BaseKeeper::BaseKeeper(RequestState& state, std::string_view coding, Reason refusal) : state_(state) {
    request_rec* r = state.r;
    const auto length = content_length(r);
    const std::uint64_t max_base = state.config.max_base.value;
    if (refusal == Reason::none && coding.empty() && length) {
        if (*length < state.config.min_base.value) refusal = Reason::too_small;
        if (*length > max_base) refusal = Reason::too_large;
    }
    if (refusal == Reason::none && !coding.empty()) {
        if (const auto format = inflater_format(coding)) {
            inflater_.emplace(*format, max_base);
        } else {
            refusal = Reason::already_coded;
        }
    }
    if (refusal != Reason::none) {
        state.explain(refusal);
        return;
    }
    copy_ =
        std::make_unique<HeldInstance>(r->pool, r->connection->bucket_alloc, state.config.hold_memory.value, max_base);
}

void BaseKeeper::take(Bytes bytes) {
    if (!copy_) return;
    if (!inflater_) {
        if (!copy_->write(bytes)) give_up(copy_->too_large() ? Reason::too_large : Reason::store_error);
        return;
    }
    const Status status = inflater_->push(bytes, *copy_);
    if (status == Status::ok) return;
    const bool no_room = status == Status::sink_failed && !copy_->too_large();
    give_up(status == Status::corrupt_delta ? Reason::already_coded
            : no_room                       ? Reason::store_error
                                            : Reason::too_large);
}

void BaseKeeper::give_up(Reason reason) {
    if (!copy_) return;
    copy_.reset();
    state_.explain(reason);
}

std::optional<std::uint64_t> BaseKeeper::finish() {
    if (!copy_) return std::nullopt;
    if (inflater_ && !inflater_->at_end()) {
        give_up(Reason::truncated);
        return std::nullopt;
    }
    const std::uint64_t size = copy_->size();
    state_.explain(keep_base(state_, *copy_));
    copy_.reset();
    return size;
}

}  // namespace crcsync::client
