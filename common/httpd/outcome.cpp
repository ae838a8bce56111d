#include "outcome.h"

#include "loggable.h"

namespace crcsync {

namespace {

// A number as text, or "-" if it is not known.
const char* text(apr_pool_t* pool, const std::optional<std::uint64_t>& number) {
    return number ? apr_psprintf(pool, "%" APR_UINT64_T_FMT, static_cast<apr_uint64_t>(*number)) : "-";
}

// Wire bytes in percent of instance bytes, rounded down as mod_deflate's ratio is.
std::optional<std::uint64_t> ratio(const Outcome& outcome) {
    if (!outcome.wire_bytes || outcome.instance_bytes.value_or(0) == 0) return std::nullopt;
    return static_cast<std::uint64_t>(static_cast<double>(*outcome.wire_bytes) * 100 /
                                      static_cast<double>(*outcome.instance_bytes));
}

}  // namespace

const char* name(Result result) {
    switch (result) {
        case Result::bypassed: return "bypassed";
        case Result::full: return "full";
        case Result::delta: return "delta";
        case Result::not_modified: return "not-modified";
        case Result::refetched: return "refetched";
        case Result::count_: break;
    }
    return "?";
}

const char* name(BaseKind base) {
    switch (base) {
        case BaseKind::none: return "none";
        case BaseKind::self: return "self";
        case BaseKind::similar: return "similar";
    }
    return "?";
}

void set_notes(request_rec* r, const Outcome& outcome) {
    for (; r != nullptr; r = r->next) {
        apr_table_setn(r->notes, "crcsync-result", name(outcome.result));
        apr_table_setn(r->notes, "crcsync-reason", name(outcome.reason));
        if (outcome.base) apr_table_setn(r->notes, "crcsync-base", name(*outcome.base));
        const auto set_number = [&](const char* note, const std::optional<std::uint64_t>& number) {
            if (number) apr_table_setn(r->notes, note, text(r->pool, number));
        };
        set_number("crcsync-instance-bytes", outcome.instance_bytes);
        set_number("crcsync-wire-bytes", outcome.wire_bytes);
        set_number("crcsync-request-bytes", outcome.request_bytes);
        set_number("crcsync-literal-bytes", outcome.literal_bytes);
        set_number("crcsync-ratio", ratio(outcome));
    }
}

void log_outcome(request_rec* r, const char* who, int module_index, const Outcome& outcome) {
    if (!APLOG_R_MODULE_IS_LEVEL(r, module_index, APLOG_DEBUG)) return;
    ap_log_rerror_(__FILE__, __LINE__, module_index, APLOG_DEBUG, 0, r,
                   "crcsync %s: %s: result=%s reason=%s base=%s instance=%s wire=%s request=%s literal=%s", who,
                   loggable_url(r), name(outcome.result), name(outcome.reason),
                   outcome.base ? name(*outcome.base) : "-", text(r->pool, outcome.instance_bytes),
                   text(r->pool, outcome.wire_bytes), text(r->pool, outcome.request_bytes),
                   text(r->pool, outcome.literal_bytes));
}

}  // namespace crcsync
