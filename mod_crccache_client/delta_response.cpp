#include "delta_response.h"

#include <string_view>
#include <utility>

#include "base_keeper.h"
#include "client_module.h"
#include "fields.h"
#include "loggable.h"

namespace crcsync::client {

namespace {

// How much of a held instance goes on at a time: a filter that keeps what it reads of a file keeps no more than this.
constexpr std::uint64_t step = 4 * 1024 * 1024;

// Identifiers of sections, by which a delta may begin.
constexpr std::string_view section_ids = "BLZS";

// Feeds the decoder with what an outer coding gives.
class DecoderSink final : public Sink {
public:
    explicit DecoderSink(Decoder& decoder) : decoder_(decoder) {}
    bool write(Bytes bytes) override {
        status_ = decoder_.push(bytes);
        return status_ == Status::ok;
    }
    Status status() const { return status_; }

private:
    Decoder& decoder_;
    Status status_ = Status::ok;
};

bool is_base_to_blame(Status status) {
    return status == Status::hash_mismatch || status == Status::corrupt_delta || status == Status::truncated ||
           status == Status::base_failed;
}

}  // namespace

DeltaResponse::DeltaResponse(RequestState& state, Coding coding, Mark mark)
    : state_(state),
      coding_(std::move(coding)),
      mark_(mark),
      reader_(state.r->connection),
      instance_(state.r->pool, state.r->connection->bucket_alloc, state.config.hold_memory.value,
                state.config.max_instance.value),
      decoder_(make_decoder(state.if_block, *state.found.base, {state.config.max_instance.value}, instance_)) {
    if (mark != Mark::coding) {
        unmarked_coding_ = std::move(coding_.inner);
        coding_.inner.clear();
        body_ = std::make_unique<HeldInstance>(state.r->pool, state.r->connection->bucket_alloc,
                                               state.config.hold_memory.value, state.config.max_instance.value);
    }
    if (!coding_.outer.empty()) {
        const auto format = inflater_format(coding_.outer);
        if (format) outer_.emplace(*format, state.config.max_instance.value);
    }
}

apr_status_t DeltaResponse::pass(ap_filter_t* f, apr_bucket_brigade* brigade) {
    // Whoever has failed with what is delivered sends an error.
    if (delivering_) return ap_pass_brigade(f->next, brigade);
    if (state_.r->connection->aborted != 0) {
        // mod_proxy ends the body that it has stopped reading. That says nothing about the delta.
        apr_brigade_cleanup(brigade);
        state_.explain(Reason::truncated);
        return APR_ECONNABORTED;
    }
    if (!coding_.outer.empty() && !outer_) return state_.filter->recover(Recovery::refetch, Reason::already_coded);
    while (!APR_BRIGADE_EMPTY(brigade)) {
        apr_bucket* b = APR_BRIGADE_FIRST(brigade);
        if (APR_BUCKET_IS_EOS(b)) return finish(f, brigade);
        if (AP_BUCKET_IS_ERROR(b)) {
            // The connection broke, not the delta: the base is as good as before.
            apr_brigade_cleanup(brigade);
            state_.add_wire_bytes(wire_bytes_);
            return state_.filter->recover(Recovery::refetch, Reason::upstream_error);
        }
        if (APR_BUCKET_IS_METADATA(b)) {
            apr_bucket_delete(b);
            continue;
        }
        const char* data = nullptr;
        apr_size_t size = 0;
        const apr_status_t read = apr_bucket_read(b, &data, &size, APR_BLOCK_READ);
        if (read != APR_SUCCESS) return state_.filter->recover(Recovery::refetch, Reason::upstream_error);
        const Bytes bytes = as_bytes({data, size});
        const bool starts = wire_bytes_ == 0 && size > 0;
        if (starts && mark_ == Mark::none && section_ids.find(data[0]) == std::string_view::npos) {
            return pass_as_it_is(f, brigade);
        }
        wire_bytes_ += size;
        Status status = Status::ok;
        if (body_ && !body_->write(bytes)) status = Status::sink_failed;
        if (status == Status::ok) status = push(bytes);
        apr_bucket_delete(b);
        if (status != Status::ok) return refuse(f, brigade, status);
    }
    if (reader_.is_gone()) {
        state_.r->connection->aborted = 1;
        return APR_ECONNABORTED;
    }
    return APR_SUCCESS;
}

Status DeltaResponse::push(Bytes bytes) {
    if (!outer_) return decoder_->push(bytes);
    DecoderSink sink(*decoder_);
    const Status status = outer_->push(bytes, sink);
    return sink.status() != Status::ok ? sink.status() : status;
}

// `rest` begins with EOS.
apr_status_t DeltaResponse::finish(ap_filter_t* f, apr_bucket_brigade* rest) {
    if (wire_bytes_ == 0 && mark_ != Mark::coding) return pass_as_it_is(f, rest);
    Status status = decoder_->finish();
    if (status == Status::ok && outer_ && !outer_->at_end()) status = Status::truncated;
    return status == Status::ok ? deliver(f, rest) : refuse(f, rest, status);
}

// The instance is whole and verified.
apr_status_t DeltaResponse::deliver(ap_filter_t* f, apr_bucket_brigade* rest) {
    state_.add_wire_bytes(wire_bytes_);
    state_.outcome.result = Result::delta;
    state_.outcome.reason = Reason::none;
    state_.outcome.instance_bytes = instance_.size();
    state_.outcome.literal_bytes = decoder_->stats().literal_bytes;
    learn();
    mend_decoded_fields(state_.r, coding_.inner, instance_.size());

    const Reason refusal = coding_.inner.empty() ? base_refusal(state_) : Reason::already_coded;
    state_.explain(refusal != Reason::none ? refusal : keep_base(state_, instance_));

    delivering_ = true;
    // The filter stays in the chain until the last call: one behind it that leaves the chain meanwhile, as mod_cache's
    // does when it cannot write, must not be called again.
    apr_bucket_brigade* out = apr_brigade_create(f->r->pool, f->c->bucket_alloc);
    while (instance_.take(out, step)) {
        const apr_status_t status = ap_pass_brigade(f->next, out);
        apr_brigade_cleanup(out);
        if (status != APR_SUCCESS || f->c->aborted != 0) {
            apr_brigade_cleanup(rest);
            return status != APR_SUCCESS ? status : APR_ECONNABORTED;
        }
    }
    ap_remove_output_filter(f);
    return ap_pass_brigade(f->next, rest);
}

void DeltaResponse::learn() {
    const DecoderStats stats = decoder_->stats();
    state_.ledger.delta(*state_.outcome.request_bytes, wire_bytes_, stats.instance_bytes, stats.literal_bytes,
                        stats.literal_delta_bytes);
}

// The body cannot be decoded.
apr_status_t DeltaResponse::refuse(ap_filter_t* f, apr_bucket_brigade* rest, Status status) {
    // Without any mark a body that ends within its first section is a plain one that just begins like a delta: "Saved".
    const bool no_delta = status == Status::corrupt_delta || status == Status::too_large ||
                          (status == Status::truncated && mark_ == Mark::none && decoder_->stats().sections == 0);
    if (mark_ != Mark::coding && (no_delta || body_->too_large())) return pass_as_it_is(f, rest);

    apr_brigade_cleanup(rest);
    state_.add_wire_bytes(wire_bytes_);
    const Reason reason = status == Status::sink_failed && !instance_.too_large() ? Reason::store_error
                          : status == Status::sink_failed                         ? Reason::too_large
                          : status == Status::base_failed                         ? Reason::store_error
                                                                                  : reason_of(status);
    ap_log_rerror(APLOG_MARK, APLOG_ERR, instance_.error(), state_.r,
                  "crcsync: %s: the delta gives no instance (%s): fetching again without it", loggable_url(state_.r),
                  name(status));
    if (is_base_to_blame(status)) {
        // The base goes, so that the same clash cannot come again.
        BaseStore(state_.r).drop(*state_.key, state_.found.names);
        state_.ledger.mismatch(reason);
    } else if (reason == Reason::too_large) {
        state_.ledger.stop(reason);
    }
    return state_.filter->recover(Recovery::refetch, reason);
}

// It was no delta: what was held goes on, and all that follows. All of it is put into the caller's brigade, where a
// fault on the way leaves it for the filter to pass on.
apr_status_t DeltaResponse::pass_as_it_is(ap_filter_t* f, apr_bucket_brigade* rest) {
    // This object ends when the filter takes another body: what is needed is moved out first.
    const auto held = std::move(body_);
    std::string coding = std::move(unmarked_coding_);
    apr_bucket_brigade* front = apr_brigade_create(f->r->pool, f->c->bucket_alloc);
    while (held->take(front, step)) {
    }
    APR_BRIGADE_PREPEND(rest, front);
    return state_.filter->pass_as_full(f, rest, std::move(coding));
}

}  // namespace crcsync::client
