// mod_crccache_server: sends responses as deltas against what the client says it has.
//
// This file is the module's table of contents: its directives and its hooks. A request goes through
//
//     settle (post_read_request, header_parser)   request.h        the fields that the origin must not see
//     insert (insert_filter, insert_error_filter) encode_filter.h  the filter
//     CRCSYNC_ENCODE, on the first data           decision.h       may it be a delta?
//                                                 response.h       what the header says
//     report (log_transaction)                                     notes, counters, the log
#include "config.h"
#include "counters.h"
#include "encode_filter.h"
#include "filter_order.h"
#include "guard.h"
#include "log_module.h"
#include "request.h"
#include "status_handler.h"

namespace {

using namespace crcsync;
using namespace crcsync::server;

// Set in post_config, before there are children; null without shared memory.
Counters* counters = nullptr;

// In post_read_request with the server's settings, in header_parser with the section's.
int settle(request_rec* r) {
    if (!is_used(r->server) || r->main != nullptr) return DECLINED;
    return guard(
        r, "settle",
        [&] {
            settle_fields(r);
            return DECLINED;
        },
        // However far it came: what goes on is a request that has a right answer.
        [] { return DECLINED; });
}

void insert(request_rec* r) {
    if (!is_used(r->server) || r->main != nullptr) return;
    const auto run = [&] {
        // mod_dir may have moved the request to another section, and SetEnv has spoken only now.
        settle_fields(r);
        const auto refusal = section_refusal(r);
        if (refusal == Reason::none) {
            add_encode_filter(r);
        } else {
            note_bypass(r, refusal);
        }
        return OK;
    };
    guard(r, "insert", run, [] { return OK; });
}

int report(request_rec* r) {
    if (!is_used(r->server)) return DECLINED;
    return guard(
        r, "report",
        [&] {
            const auto* request = find_request(r);
            if (request == nullptr) return DECLINED;
            auto outcome = request->outcome;
            const auto* last = r;
            while (last->next != nullptr) last = last->next;
            if (outcome.result != Result::delta) {
                outcome.wire_bytes = last->sent_bodyct != 0 ? static_cast<std::uint64_t>(last->bytes_sent) : 0;
                // What goes without a coding is the instance itself.
                const bool coded = apr_table_get(last->headers_out, "Content-Encoding") != nullptr;
                if (outcome.result == Result::full && !coded) outcome.instance_bytes = outcome.wire_bytes;
            } else if (!request->finished && outcome.reason == Reason::none) {
                outcome.reason = Reason::truncated;
            }
            set_notes(r, outcome);
            log_outcome(r, "server", crccache_server_module.module_index, outcome);
            if (counters != nullptr) counters->add(outcome);
            return DECLINED;
        },
        [] { return DECLINED; });
}

int post_config(apr_pool_t* /*config*/, apr_pool_t* /*log*/, apr_pool_t* /*temporary*/, server_rec* server) {
    counters = guard(
        server, "the opening of the counters", [&] { return open_counters("CRCSyncServer", server); },
        []() -> Counters* { return nullptr; });
    warn_about_filters({encode_filter_name, encode_filter_type, "CRCSyncServer", true},
                       crccache_server_module.module_index, server);
    return OK;
}

void register_hooks(apr_pool_t* /*pool*/) {
    // After mod_setenvif, whose variables can switch the module off.
    static const char* const after_setenvif[] = {"mod_setenvif.c", nullptr};
    ap_hook_post_config(post_config, nullptr, nullptr, APR_HOOK_MIDDLE);
    ap_hook_post_read_request(settle, after_setenvif, nullptr, APR_HOOK_LAST);
    ap_hook_header_parser(settle, after_setenvif, nullptr, APR_HOOK_LAST);
    ap_hook_insert_filter(insert, nullptr, nullptr, APR_HOOK_LAST);
    ap_hook_insert_error_filter(insert, nullptr, nullptr, APR_HOOK_LAST);
    ap_hook_handler(handle_status, nullptr, nullptr, APR_HOOK_MIDDLE);
    ap_hook_log_transaction(report, nullptr, nullptr, APR_HOOK_FIRST);
    register_encode_filter();
}

}  // namespace

// AP_DECLARE_MODULE would begin a line with a word that C++20 takes for its own modules.
#pragma GCC visibility push(default)
module_struct crccache_server_module = {STANDARD20_MODULE_STUFF, create_section_config,
                                        merge_section_config,    create_server_config,
                                        merge_server_config,     commands,
                                        register_hooks,          0};
#pragma GCC visibility pop
