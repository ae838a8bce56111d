// A response that is a delta, or may be one. It is held, decoded and verified; the reader gets all of it or nothing.
//
// Something on the way may have stripped Content-Encoding. Then the tag's suffix still tells, or else the body's own
// structure: what begins like a delta is held for as long as it goes on like one. If the structure breaks, it was no
// delta, and the body passes as it is.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "decode_filter.h"
#include "decoder.h"
#include "held_instance.h"
#include "inflater.h"
#include "reader_watch.h"
#include "response_fields.h"

namespace crcsync::client {

class DeltaResponse final : public ResponseBody {
public:
    // What says that this is a delta.
    enum class Mark { coding, tag, none };

    DeltaResponse(RequestState& state, Coding coding, Mark mark);

    apr_status_t pass(ap_filter_t* f, apr_bucket_brigade* brigade) override;
    Progress progress() const override { return delivering_ ? Progress::changed : Progress::holding; }

private:
    Status push(Bytes bytes);
    apr_status_t finish(ap_filter_t* f, apr_bucket_brigade* rest);
    apr_status_t deliver(ap_filter_t* f, apr_bucket_brigade* rest);
    apr_status_t refuse(ap_filter_t* f, apr_bucket_brigade* rest, Status status);
    apr_status_t pass_as_it_is(ap_filter_t* f, apr_bucket_brigade* rest);
    void learn();

    RequestState& state_;
    Coding coding_;
    Mark mark_;
    std::string unmarked_coding_;  // without that mark: what Content-Encoding says, true if this is no delta
    ReaderWatch reader_;
    HeldInstance instance_;
    std::unique_ptr<HeldInstance> body_;  // as it came, where it may be no delta
    std::unique_ptr<Decoder> decoder_;
    std::optional<Inflater> outer_;  // a coding over the delta
    std::uint64_t wire_bytes_ = 0;
    bool delivering_ = false;
};

}  // namespace crcsync::client
