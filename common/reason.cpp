#include "reason.h"

namespace crcsync {

namespace {

constexpr std::array<const char*, reason_count> names = {
    "-",
    "no-base",
    "not-get",
    "range",
    "method",
    "no-transform",
    "already-coded",
    "too-small",
    "too-large",
    "type",
    "bad-if-block",
    "unsupported-version",
    "block-limit",
    "status",
    "disabled",
    "env",
    "private",
    "no-store",
    "store-error",
    "store-limit",
    "peer-without-crcsync",
    "peer-declined",
    "not-paying",
    "digest",
    "event-stream",
    "foreign-if-block",
    "hash-mismatch",
    "corrupt-delta",
    "truncated",
    "upstream-error",
    "not-acceptable",
    "refused-request",
    "own-suffix",
    "filter-order",
    "cleared",
    "fault",
};
static_assert(names.back() != nullptr, "every reason has a name");

}  // namespace

const char* name(Reason reason) {
    const auto i = static_cast<std::size_t>(reason);
    return i < names.size() ? names[i] : "?";
}

Reason reason_of(Status status) {
    switch (status) {
        case Status::ok: return Reason::none;
        case Status::bad_if_block: return Reason::bad_if_block;
        case Status::unsupported_version: return Reason::unsupported_version;
        case Status::block_limit: return Reason::block_limit;
        case Status::corrupt_delta: return Reason::corrupt_delta;
        case Status::truncated: return Reason::truncated;
        case Status::hash_mismatch: return Reason::hash_mismatch;
        case Status::too_large: return Reason::too_large;
        case Status::base_failed: return Reason::store_error;
        case Status::sink_failed: return Reason::fault;
    }
    return Reason::fault;
}

const char* name(Status status) {
    switch (status) {
        case Status::ok: return "ok";
        case Status::base_failed: return "base-failed";
        case Status::sink_failed: return "sink-failed";
        default: return name(reason_of(status));
    }
}

}  // namespace crcsync
