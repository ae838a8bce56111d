#include "encode_filter.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>

#include "decision.h"
#include "encoder.h"
#include "guard.h"
#include "inflater.h"
#include "log_module.h"
#include "loggable.h"
#include "pool.h"
#include "request.h"
#include "response.h"

namespace crcsync::server {

namespace {

ap_filter_rec_t* filter_record = nullptr;

// Metadata moves to `out`, data is dropped.
void move_metadata(apr_bucket_brigade* in, apr_bucket_brigade* out) {
    while (!APR_BRIGADE_EMPTY(in)) {
        auto* e = APR_BRIGADE_FIRST(in);
        APR_BUCKET_REMOVE(e);
        if (APR_BUCKET_IS_METADATA(e)) {
            APR_BRIGADE_INSERT_TAIL(out, e);
        } else {
            apr_bucket_destroy(e);
        }
    }
}

// What the first brigades tell about the body, before any of it is read.
struct Outlook {
    bool decidable = false;  // there is data, the end, or something that cannot wait
    bool failed = false;     // the upstream has failed before it gave anything
    std::optional<std::uint64_t> size;
};

Outlook look_at(apr_bucket_brigade* in) {
    Outlook outlook;
    std::uint64_t size = 0;
    bool known = true;
    for (auto* e = APR_BRIGADE_FIRST(in); e != APR_BRIGADE_SENTINEL(in); e = APR_BUCKET_NEXT(e)) {
        if (APR_BUCKET_IS_EOS(e)) {
            outlook.decidable = true;
            if (known) outlook.size = size;
            break;
        }
        if (AP_BUCKET_IS_ERROR(e) || AP_BUCKET_IS_EOC(e)) outlook.failed = true;
        // A FLUSH asks for the header at least; whoever sends one has set all fields.
        if (APR_BUCKET_IS_FLUSH(e) || outlook.failed) outlook.decidable = true;
        if (APR_BUCKET_IS_METADATA(e)) continue;
        if (e->length != 0) outlook.decidable = true;
        if (e->length == static_cast<apr_size_t>(-1)) {
            known = false;
        } else {
            size += e->length;
        }
    }
    return outlook;
}

// Makes the delta of one response. Belongs to the request's pool; `request` lives there too.
class EncodeFilter final : public Sink {
public:
    EncodeFilter(ap_filter_t* f, Request& request)
        : request_(request), out_(apr_brigade_create(f->r->pool, f->c->bucket_alloc)) {}

    apr_status_t run(ap_filter_t* f, apr_bucket_brigade* in);

    // After a fault: whole if nothing has been changed yet, else a response that is visibly cut off.
    apr_status_t give_up(ap_filter_t* f, apr_bucket_brigade* in) noexcept;

    // The encoder's output.
    bool write(Bytes bytes) override;

private:
    enum class State : unsigned char { undecided, encoding, ended, failed };

    // Bytes of the origin's coding that became bytes of the instance.
    class Inflated final : public Sink {
    public:
        explicit Inflated(Encoder& encoder) : encoder_(encoder) {}
        bool write(Bytes bytes) override { return encoder_.push(bytes) == Status::ok; }

    private:
        Encoder& encoder_;
    };

    apr_status_t decide_and_run(apr_bucket_brigade* in);
    void start(const Decision& decision);
    void refuse(Reason reason);
    apr_status_t stand_aside(apr_bucket_brigade* in);
    apr_status_t encode(apr_bucket_brigade* in);
    apr_status_t take_metadata(apr_bucket* e, apr_bucket_brigade* in);
    apr_status_t take_data(apr_bucket* e);
    apr_status_t push(Bytes bytes);
    apr_status_t flush();
    apr_status_t end(apr_bucket_brigade* in);
    void set_failed(Reason reason, apr_status_t status) noexcept;
    apr_status_t fail(Reason reason, apr_status_t status) noexcept;
    void seal();
    apr_status_t pass();
    void update_outcome();

    Request& request_;
    ap_filter_t* f_ = nullptr;  // while run() runs
    State state_ = State::undecided;
    apr_bucket_brigade* out_;  // the one brigade that everything leaves in
    std::size_t buffer_size_ = 0;
    // Output that has no bucket yet: a delta comes two bytes at a time, and each write to a brigade makes a bucket.
    std::unique_ptr<char[]> buffer_;
    std::size_t buffered_ = 0;
    std::unique_ptr<Encoder> encoder_;
    std::unique_ptr<Inflater> inflater_;  // where the origin's coding is undone
    std::optional<std::uint64_t> announced_;
    std::uint64_t taken_ = 0;                  // bytes of the origin's body
    apr_status_t pass_status_ = APR_SUCCESS;   // what the next filter said last
    apr_status_t fail_status_ = APR_EGENERAL;  // what everything after a failure is answered with
};

apr_status_t EncodeFilter::run(ap_filter_t* f, apr_bucket_brigade* in) {
    f_ = f;
    switch (state_) {
        case State::undecided: return decide_and_run(in);
        case State::encoding: return encode(in);
        case State::ended:
            // What follows the end is no part of the instance.
            move_metadata(in, out_);
            return pass();
        case State::failed: break;
    }
    apr_brigade_cleanup(in);
    return fail_status_;
}

apr_status_t EncodeFilter::decide_and_run(apr_bucket_brigade* in) {
    auto* r = f_->r;
    const auto outlook = look_at(in);
    if (!outlook.decidable) {
        // Any brigade would make httpd send the header, so metadata waits for the decision. What data there is is
        // empty.
        move_metadata(in, out_);
        return APR_SUCCESS;
    }
    if (outlook.failed) {
        refuse(Reason::upstream_error);
        return stand_aside(in);
    }
    auto reason = request_.refusal;
    if (r->status == HTTP_NOT_MODIFIED) {
        reason = Reason::status;
    } else if (reason == Reason::none) {
        const auto decision = decide(request_.if_block, config_of(r).policy(), read_facts(r, outlook.size));
        reason = decision.reason;
        if (reason == Reason::none) {
            start(decision);
            return encode(in);
        }
    }
    refuse(reason);
    return stand_aside(in);
}

// Whoever compresses in spite of the request's `Accept-Encoding: identity` takes all deltas away. Said once in a child.
void warn_about_coder(const request_rec* r) {
    static std::atomic_flag said;
    for (const auto* f = r->output_filters; f != nullptr && f->frec != filter_record; f = f->next) {
        const std::string_view name = f->frec->name;
        if (name != "deflate" && name != "brotli_compress") continue;
        if (said.test_and_set()) return;
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r,
                      "crcsync: %s: the filter %s codes responses before %s sees them, so they can't become deltas",
                      loggable_url(r), f->frec->name, encode_filter_name);
    }
}

void EncodeFilter::refuse(Reason reason) {
    auto* r = f_->r;
    auto& outcome = request_.outcome;
    // An error page after a failure of ours or of the upstream keeps that reason.
    const bool failed = outcome.reason == Reason::fault || outcome.reason == Reason::upstream_error;
    if (!failed) outcome.reason = reason;
    if (reason == Reason::already_coded) warn_about_coder(r);
    if (r->status == HTTP_NOT_MODIFIED) {
        outcome.result = Result::not_modified;
        outcome.reason = Reason::none;
    } else if (reason == Reason::method || reason == Reason::range || reason == Reason::status) {
        outcome.result = Result::bypassed;
    } else {
        outcome.result = Result::full;
    }
    announce(r, request_);
}

// Leaves the chain; everything from here on passes as it is.
apr_status_t EncodeFilter::stand_aside(apr_bucket_brigade* in) {
    APR_BRIGADE_PREPEND(in, out_);
    auto* next = f_->next;
    ap_remove_output_filter(f_);
    return ap_pass_brigade(next, in);
}

void EncodeFilter::start(const Decision& decision) {
    auto* r = f_->r;
    const auto& config = config_of(r);
    buffer_size_ = config.buffer();
    announced_ = announced_length(r);
    const EncoderOptions options = {.buffer_size = buffer_size_,
                                    .compression_level = decision.compressible ? config.level() : 0};
    encoder_ = make_encoder(decision.if_block, options, *this);
    if (encoder_ == nullptr) throw std::bad_alloc();
    // No limit on what comes out: nothing is kept of it, and zlib's own limit is a thousand bytes for each that came
    // in.
    if (decision.undo != Undo::nothing) {
        const auto format = decision.undo == Undo::gzip ? Inflater::Format::gzip : Inflater::Format::deflate;
        inflater_ = std::make_unique<Inflater>(format, UINT64_MAX);
    }
    // From here on the plain body would be a wrong one.
    state_ = State::encoding;
    request_.finished = false;
    request_.outcome.result = Result::delta;
    request_.outcome.reason = Reason::none;
    announce(r, request_);
    describe_delta(r, decision.coding);
}

apr_status_t EncodeFilter::encode(apr_bucket_brigade* in) {
    while (!APR_BRIGADE_EMPTY(in)) {
        if (f_->c->aborted != 0) {
            apr_brigade_cleanup(in);
            return fail(Reason::truncated, APR_ECONNABORTED);
        }
        auto* e = APR_BRIGADE_FIRST(in);
        const auto status = APR_BUCKET_IS_METADATA(e) ? take_metadata(e, in) : take_data(e);
        if (state_ != State::encoding) {
            apr_brigade_cleanup(in);
            return status;
        }
        update_outcome();
    }
    return pass();
}

apr_status_t EncodeFilter::take_metadata(apr_bucket* e, apr_bucket_brigade* in) {
    if (APR_BUCKET_IS_EOS(e)) return end(in);
    if (AP_BUCKET_IS_ERROR(e) || AP_BUCKET_IS_EOC(e)) {
        // The upstream has failed. The delta gets no end, and the bucket tells httpd not to end the response either.
        set_failed(Reason::upstream_error, APR_EGENERAL);
        seal();
        APR_BRIGADE_CONCAT(out_, in);
        return pass();
    }
    APR_BUCKET_REMOVE(e);
    if (APR_BUCKET_IS_FLUSH(e)) {
        apr_bucket_destroy(e);
        return flush();
    }
    seal();
    APR_BRIGADE_INSERT_TAIL(out_, e);
    return APR_SUCCESS;
}

apr_status_t EncodeFilter::take_data(apr_bucket* e) {
    if (APR_BUCKET_IS_FILE(e)) {
        // A mapped file that shrinks kills the child; read() just ends early, which end() notices.
        apr_bucket_file_enable_mmap(e, 0);
        apr_bucket_file_set_buf_size(e, buffer_size_);
    }
    const char* data = nullptr;
    apr_size_t length = 0;
    auto status = apr_bucket_read(e, &data, &length, APR_NONBLOCK_READ);
    if (APR_STATUS_IS_EAGAIN(status)) {
        // Nothing there yet: what is decided goes out before we wait.
        status = flush();
        if (status != APR_SUCCESS) return status;
        status = apr_bucket_read(e, &data, &length, APR_BLOCK_READ);
    }
    if (status != APR_SUCCESS) return fail(Reason::upstream_error, status);
    taken_ += length;
    for (auto left = as_bytes({data, length}); !left.empty();) {
        const auto piece = left.first(std::min(left.size(), buffer_size_));
        left = left.subspan(piece.size());
        status = push(piece);
        if (status != APR_SUCCESS) return status;
    }
    apr_bucket_delete(e);
    return APR_SUCCESS;
}

apr_status_t EncodeFilter::push(Bytes bytes) {
    Status status = Status::ok;
    if (inflater_ != nullptr) {
        Inflated inflated(*encoder_);
        while (!bytes.empty() && status == Status::ok) status = inflater_->push(bytes, inflated);
    } else {
        status = encoder_->push(bytes);
    }
    if (status == Status::ok) return APR_SUCCESS;
    if (pass_status_ != APR_SUCCESS) return fail(Reason::truncated, pass_status_);
    return fail(status == Status::corrupt_delta ? Reason::upstream_error : Reason::fault, APR_EGENERAL);
}

apr_status_t EncodeFilter::flush() {
    if (encoder_->flush() != Status::ok) return fail(Reason::truncated, pass_status_);
    seal();
    APR_BRIGADE_INSERT_TAIL(out_, apr_bucket_flush_create(out_->bucket_alloc));
    return pass();
}

// The instance is complete: so is the delta, if what came is what was announced.
apr_status_t EncodeFilter::end(apr_bucket_brigade* in) {
    const bool cut_off =
        (announced_ && *announced_ != taken_) || (inflater_ != nullptr && taken_ > 0 && !inflater_->at_end());
    if (cut_off) return fail(Reason::upstream_error, APR_EGENERAL);
    if (encoder_->finish() != Status::ok) return fail(Reason::truncated, pass_status_);
    update_outcome();
    request_.finished = true;
    state_ = State::ended;
    encoder_.reset();
    inflater_.reset();
    seal();
    // Data after the end is no part of the instance.
    move_metadata(in, out_);
    return pass();
}

// Nothing may follow on this connection: the response has no end that the reader could find.
void EncodeFilter::set_failed(Reason reason, apr_status_t status) noexcept {
    state_ = State::failed;
    request_.outcome.reason = reason;
    fail_status_ = status != APR_SUCCESS ? status : APR_EGENERAL;
    f_->c->keepalive = AP_CONN_CLOSE;
}

// Cuts the response off so that everybody sees it: a chunked body gets no last chunk, a stream of HTTP/2 is reset.
apr_status_t EncodeFilter::fail(Reason reason, apr_status_t status) noexcept {
    const auto keepalive = f_->c->keepalive;
    set_failed(reason, status);
    if (pass_status_ != APR_SUCCESS || f_->c->aborted != 0) {
        apr_brigade_cleanup(out_);
        buffered_ = 0;
        return fail_status_;
    }
    auto* r = f_->r;
    ap_log_rerror(APLOG_MARK, APLOG_ERR, status, r, "crcsync: %s: the response is cut off (%s)", loggable_url(r),
                  name(reason));
    // With its header the client sees a delta that is cut off, and asks for the whole page. An error page in its place
    // would be the end, also where the origin's bytes are just none that can be made a delta of. The header must not
    // say that the body ends with the connection: nobody would see that it is cut.
    f_->c->keepalive = keepalive;
    seal();
    APR_BRIGADE_INSERT_TAIL(out_, apr_bucket_flush_create(out_->bucket_alloc));
    pass_status_ = ap_pass_brigade(f_->next, out_);
    apr_brigade_cleanup(out_);
    f_->c->keepalive = AP_CONN_CLOSE;
    if (pass_status_ != APR_SUCCESS) return fail_status_;
    APR_BRIGADE_INSERT_TAIL(out_, ap_bucket_error_create(HTTP_BAD_GATEWAY, nullptr, r->pool, out_->bucket_alloc));
    APR_BRIGADE_INSERT_TAIL(out_, apr_bucket_eos_create(out_->bucket_alloc));
    const auto passed = ap_pass_brigade(f_->next, out_);
    apr_brigade_cleanup(out_);
    // An error page is on its way, if the header had not been sent.
    if (passed == AP_FILTER_ERROR) fail_status_ = AP_FILTER_ERROR;
    return fail_status_;
}

apr_status_t EncodeFilter::give_up(ap_filter_t* f, apr_bucket_brigade* in) noexcept {
    f_ = f;
    if (state_ == State::ended || state_ == State::failed) {
        apr_brigade_cleanup(in);
        return fail_status_;
    }
    request_.outcome.reason = Reason::fault;
    if (state_ == State::undecided) {
        request_.outcome.result = Result::full;
        APR_BRIGADE_PREPEND(in, out_);
        auto* next = f->next;
        ap_remove_output_filter(f);
        return ap_pass_brigade(next, in);
    }
    apr_brigade_cleanup(in);
    return fail(Reason::fault, APR_EGENERAL);
}

bool EncodeFilter::write(Bytes bytes) {
    if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<char[]>(buffer_size_);
    while (!bytes.empty()) {
        const auto piece = bytes.first(std::min(bytes.size(), buffer_size_ - buffered_));
        std::memcpy(buffer_.get() + buffered_, piece.data(), piece.size());
        buffered_ += piece.size();
        bytes = bytes.subspan(piece.size());
        if (buffered_ == buffer_size_ && pass() != APR_SUCCESS) return false;
    }
    return true;
}

void EncodeFilter::seal() {
    if (buffered_ == 0) return;
    APR_BRIGADE_INSERT_TAIL(out_, apr_bucket_heap_create(buffer_.get(), buffered_, nullptr, out_->bucket_alloc));
    buffered_ = 0;
}

apr_status_t EncodeFilter::pass() {
    seal();
    if (APR_BRIGADE_EMPTY(out_)) return APR_SUCCESS;
    pass_status_ = ap_pass_brigade(f_->next, out_);
    apr_brigade_cleanup(out_);
    // What did not arrive is missing: to go on would make a whole delta of wrong bytes.
    if (pass_status_ != APR_SUCCESS && state_ == State::encoding) set_failed(Reason::truncated, pass_status_);
    return pass_status_;
}

void EncodeFilter::update_outcome() {
    const auto stats = encoder_->stats();
    request_.outcome.instance_bytes = stats.instance_bytes;
    request_.outcome.literal_bytes = stats.literal_bytes;
    request_.outcome.wire_bytes = stats.delta_bytes;
}

apr_status_t run_filter(ap_filter_t* f, apr_bucket_brigade* in) {
    auto* filter = static_cast<EncodeFilter*>(f->ctx);
    if (filter == nullptr) {
        // Configured by name (SetOutputFilter), not by our hook: it has no place in that chain.
        ap_remove_output_filter(f);
        return ap_pass_brigade(f->next, in);
    }
    if (APR_BRIGADE_EMPTY(in)) return APR_SUCCESS;
    return guard(
        f->r, encode_filter_name, [&] { return filter->run(f, in); }, [&] { return filter->give_up(f, in); });
}

}  // namespace

void register_encode_filter() {
    filter_record = ap_register_output_filter(encode_filter_name, run_filter, nullptr, encode_filter_type);
}

void add_encode_filter(request_rec* r) {
    for (auto* f = r->output_filters; f != nullptr; f = f->next) {
        if (f->frec == filter_record && f->ctx != nullptr && f->r == r) return;
    }
    auto& request = get_request(r);
    // For a handler that sends nothing through filters.
    if (request.outcome.reason == Reason::none) request.outcome.reason = request.refusal;
    auto* f = ap_add_output_filter_handle(filter_record, nullptr, r, r->connection);
    f->ctx = make_in_pool<EncodeFilter>(r->pool, f, request);
}

}  // namespace crcsync::server
