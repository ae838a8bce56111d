// What became of one request, as notes for LogFormat, one debug line, and counters.
#pragma once

#include <cstdint>
#include <optional>

#include "apache.h"
#include "reason.h"

namespace crcsync {

enum class Result : unsigned char { bypassed, full, delta, not_modified, refetched, count_ };
inline constexpr std::size_t result_count = static_cast<std::size_t>(Result::count_);
const char* name(Result result);

enum class BaseKind : unsigned char { none, self, similar };
const char* name(BaseKind base);

struct Outcome {
    Result result = Result::bypassed;
    Reason reason = Reason::none;
    std::optional<BaseKind> base = BaseKind::none;  // unset: not known, as in the server module
    std::optional<std::uint64_t> instance_bytes;    // bytes of the new instance
    std::optional<std::uint64_t> wire_bytes;        // body bytes of the response on the slow link
    std::optional<std::uint64_t> request_bytes;     // bytes of the If-Block field line
    std::optional<std::uint64_t> literal_bytes;     // of the instance, not from the base
};

// Sets the notes crcsync-result, -reason, -base, -instance-bytes, -wire-bytes, -request-bytes, -literal-bytes and
// -ratio: those that `outcome` knows, on `r` and on all that it was redirected to internally, since %{...}n reads the
// last one. Call before mod_log_config runs: from a log_transaction hook that is APR_HOOK_FIRST. Where both modules
// have worked on a request, the one that calls last sets the note.
void set_notes(request_rec* r, const Outcome& outcome);

// The one line for each request, at debug: `who` is "client" or "server".
void log_outcome(request_rec* r, const char* who, int module_index, const Outcome& outcome);

}  // namespace crcsync
