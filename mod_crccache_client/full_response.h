// A full response: each brigade goes on at once, FLUSH included, while a copy of the bytes becomes a base.
#pragma once

#include <memory>
#include <string>

#include "base_keeper.h"
#include "decode_filter.h"

namespace crcsync::client {

// Undoes a coding that the reader does not take, while the body passes.
class CodingUndo;

class FullResponse final : public ResponseBody {
public:
    // `coding` is the response's content coding, empty for none.
    FullResponse(RequestState& state, std::string coding);
    ~FullResponse() override;

    apr_status_t pass(ap_filter_t* f, apr_bucket_brigade* brigade) override;
    Progress progress() const override;

private:
    apr_status_t pass_undone(ap_filter_t* f, apr_bucket_brigade* brigade);
    void fail(Reason reason);
    void finish();

    RequestState& state_;
    std::string coding_;
    std::unique_ptr<CodingUndo> undo_;
    BaseKeeper keeper_;
    std::uint64_t wire_bytes_ = 0;
    bool failed_ = false;
    std::optional<std::uint64_t> announced_;  // Content-Length
};

}  // namespace crcsync::client
