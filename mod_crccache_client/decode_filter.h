// The output filter CRCSYNC_DECODE: the first to see what the upstream sends, before anything that changes bytes or
// keeps them.
//
// It mends the header fields of every response of an enabled section. A full response passes on at once, while a copy
// of it becomes a base (FullResponse). A delta is held until it is decoded and verified (DeltaResponse). What cannot be
// used is swallowed: nothing of it reaches the reader, and when mod_proxy is through with the upstream, the request is
// handed to it once more, without If-Block, or ends with an error (refetch.h).
#pragma once

#include <memory>
#include <string>

#include "apache.h"
#include "reason.h"
#include "request_state.h"

namespace crcsync::client {

inline constexpr const char* decode_filter_name = "CRCSYNC_DECODE";

// Before INFLATE, and all that changes or keeps bytes.
inline constexpr auto decode_filter_type = static_cast<ap_filter_type>(AP_FTYPE_RESOURCE - 2);

void register_decode_filter();

// Adds the filter to the request of `state`.
void add_decode_filter(RequestState& state);

// Whether it is the first to see what the upstream sends. What stands before it has been put there by hand
// (ExtFilterDefine ... ftype=), and is warned of at start.
bool is_first_filter(const RequestState& state);

// Takes it out again, with all that it holds. Not to be called from within it.
void remove_decode_filter(RequestState& state);

// How one body is treated.
class ResponseBody {
public:
    virtual ~ResponseBody() = default;

    // Takes a brigade, as a filter does.
    virtual apr_status_t pass(ap_filter_t* f, apr_bucket_brigade* brigade) = 0;

    // How far it has come: what can be done if it cannot go on.
    enum class Progress {
        holding,    // nothing was passed on, and will not be before all is there
        waiting,    // nothing was passed on yet
        untouched,  // what was passed on is what came
        changed,    // other bytes were passed on
    };
    virtual Progress progress() const = 0;
};

class DecodeFilter {
public:
    explicit DecodeFilter(RequestState& state) : state_(state) {}

    apr_status_t pass(ap_filter_t* f, apr_bucket_brigade* brigade);

    // Whether anything has come, be it an error.
    bool has_begun() const { return begun_; }

    // Whether a response has begun of which the reader has nothing yet.
    bool is_holding() const { return body_ && body_->progress() == ResponseBody::Progress::holding; }

    // From the bodies: all that came and will come of this response is thrown away. Returns what pass() is to return,
    // so that mod_proxy stops reading.
    apr_status_t recover(Recovery recovery, Reason reason);

    // From a body that is not the delta that it might have been; `coding` is what its Content-Encoding says.
    apr_status_t pass_as_full(ap_filter_t* f, apr_bucket_brigade* brigade, std::string coding);

    // A fault of ours. Returns what pass() is to return.
    apr_status_t fail(ap_filter_t* f, apr_bucket_brigade* brigade) noexcept;

    // Frees what is held.
    void release() { body_.reset(); }

private:
    apr_status_t begin(ap_filter_t* f, apr_bucket_brigade* brigade);
    void forget_origin();
    std::unique_ptr<ResponseBody> choose_body(bool capable);
    apr_status_t step_aside(ap_filter_t* f, apr_bucket_brigade* brigade);

    RequestState& state_;
    bool begun_ = false;
    std::unique_ptr<ResponseBody> body_;
};

}  // namespace crcsync::client
