#include "full_response.h"

#include <utility>

#include "client_module.h"
#include "fields.h"
#include "response_fields.h"

namespace crcsync::client {

namespace {

// Without the field a reader takes every coding.
bool reader_takes(const RequestState& state, std::string_view coding) {
    return !state.has_accept_encoding || fields::accepts_coding(state.accept_encoding, coding);
}

bool must_undo(const RequestState& state, std::string_view coding) {
    return state.r->status == HTTP_OK && inflater_format(coding) && !reader_takes(state, coding) &&
           !is_bound_to_its_bytes(state.r);
}

}  // namespace

// Inflates into a brigade of its own, which goes on whenever it has grown.
class CodingUndo final : public Sink {
public:
    CodingUndo(request_rec* r, Inflater::Format format, BaseKeeper& keeper)
        : r_(r),
          inflater_(format, UINT64_MAX),
          keeper_(keeper),
          out_(apr_brigade_create(r->pool, r->connection->bucket_alloc)) {}

    void set_filter(ap_filter_t* f) { filter_ = f; }
    bool push(Bytes bytes) { return inflater_.push(bytes, *this) == Status::ok; }
    bool at_end() const { return inflater_.at_end(); }
    bool has_passed() const { return has_passed_; }
    apr_bucket_brigade* out() { return out_; }

    bool write(Bytes bytes) override {
        keeper_.take(bytes);
        const auto text = as_text(bytes);
        if (apr_brigade_write(out_, nullptr, nullptr, text.data(), text.size()) != APR_SUCCESS) return false;
        waiting_ += text.size();
        return waiting_ < limit || flush() == APR_SUCCESS;
    }

    apr_status_t flush() {
        waiting_ = 0;
        has_passed_ = true;
        const apr_status_t status = ap_pass_brigade(filter_->next, out_);
        apr_brigade_cleanup(out_);
        return r_->connection->aborted != 0 ? APR_ECONNABORTED : status;
    }

private:
    static constexpr std::size_t limit = 64 * 1024;

    request_rec* r_;
    Inflater inflater_;
    BaseKeeper& keeper_;
    apr_bucket_brigade* out_;
    ap_filter_t* filter_ = nullptr;
    std::size_t waiting_ = 0;
    bool has_passed_ = false;
};

FullResponse::FullResponse(RequestState& state, std::string coding)
    : state_(state),
      coding_(std::move(coding)),
      // With its coding undone, the copy is made of what the reader gets.
      keeper_(state, must_undo(state, coding_) ? "" : coding_, base_refusal(state)) {
    if (must_undo(state, coding_)) {
        undo_ = std::make_unique<CodingUndo>(state.r, *inflater_format(coding_), keeper_);
        mend_undone_fields(state.r);
    }
    apr_off_t length = 0;
    const std::string text = response_field(state.r, "Content-Length");
    if (!text.empty() && ap_parse_strict_length(&length, text.c_str()) != 0) announced_ = length;
}

FullResponse::~FullResponse() = default;

ResponseBody::Progress FullResponse::progress() const {
    if (!undo_) return Progress::untouched;
    return undo_->has_passed() ? Progress::changed : Progress::waiting;
}

apr_status_t FullResponse::pass(ap_filter_t* f, apr_bucket_brigade* brigade) {
    if (undo_) return pass_undone(f, brigade);
    bool ended = false;
    for (apr_bucket* b = APR_BRIGADE_FIRST(brigade); b != APR_BRIGADE_SENTINEL(brigade) && !ended;
         b = APR_BUCKET_NEXT(b)) {
        if (AP_BUCKET_IS_ERROR(b)) fail(Reason::upstream_error);
        ended = APR_BUCKET_IS_EOS(b);
        if (APR_BUCKET_IS_METADATA(b)) continue;
        const char* data = nullptr;
        apr_size_t size = 0;
        const apr_status_t status = apr_bucket_read(b, &data, &size, APR_BLOCK_READ);
        if (status != APR_SUCCESS) {
            fail(Reason::upstream_error);
            break;  // who reads the bucket next meets the same error
        }
        keeper_.take(as_bytes({data, size}));
        wire_bytes_ += size;
    }
    // The base is there before the reader has the end of the page: his next request finds it.
    if (ended) finish();
    const apr_status_t status = ap_pass_brigade(f->next, brigade);
    if (status != APR_SUCCESS || state_.r->connection->aborted != 0) fail(Reason::upstream_error);
    return status;
}

apr_status_t FullResponse::pass_undone(ap_filter_t* f, apr_bucket_brigade* brigade) {
    undo_->set_filter(f);
    while (!APR_BRIGADE_EMPTY(brigade)) {
        apr_bucket* b = APR_BRIGADE_FIRST(brigade);
        if (APR_BUCKET_IS_METADATA(b)) {
            APR_BUCKET_REMOVE(b);
            if (AP_BUCKET_IS_ERROR(b)) fail(Reason::upstream_error);
            const bool ended = APR_BUCKET_IS_EOS(b);
            const bool whole = undo_->at_end() || wire_bytes_ == 0;  // an empty body has no coding to end
            if (ended && whole) finish();
            if (ended && !whole) {
                // The reader has a part already: the connection must show that the rest is missing.
                fail(Reason::truncated);
                apr_bucket* error =
                    ap_bucket_error_create(HTTP_BAD_GATEWAY, nullptr, state_.r->pool, brigade->bucket_alloc);
                APR_BRIGADE_INSERT_TAIL(undo_->out(), error);
            }
            APR_BRIGADE_INSERT_TAIL(undo_->out(), b);
            if (!ended && !APR_BUCKET_IS_FLUSH(b)) continue;
            const apr_status_t status = undo_->flush();
            if (status != APR_SUCCESS || ended) return status;
            continue;
        }
        const char* data = nullptr;
        apr_size_t size = 0;
        const apr_status_t status = apr_bucket_read(b, &data, &size, APR_BLOCK_READ);
        if (status != APR_SUCCESS) return status;
        wire_bytes_ += size;
        if (!undo_->push(as_bytes({data, size}))) {
            fail(Reason::upstream_error);
            return APR_EGENERAL;
        }
        apr_bucket_delete(b);
    }
    return APR_SUCCESS;
}

// The body is not whole: it becomes no base, and tells nothing about what the page costs.
void FullResponse::fail(Reason reason) {
    failed_ = true;
    keeper_.give_up(reason);
}

// The body has ended.
void FullResponse::finish() {
    state_.add_wire_bytes(wire_bytes_);
    if (announced_ && *announced_ != wire_bytes_) fail(Reason::truncated);
    const auto kept = keeper_.finish();
    std::optional<std::uint64_t> instance = kept;
    if (!instance && coding_.empty()) instance = wire_bytes_;
    state_.outcome.instance_bytes = instance;
    if (failed_ || state_.r->status != HTTP_OK) return;
    if (state_.sent_if_block) {
        state_.ledger.refused();
        // Nothing else explains it: the server module has had its reason, which only its own log tells.
        if (state_.outcome.reason == Reason::none) state_.outcome.reason = Reason::peer_declined;
    } else if (instance) {
        state_.ledger.plain(wire_bytes_, *instance);
    }
}

}  // namespace crcsync::client
