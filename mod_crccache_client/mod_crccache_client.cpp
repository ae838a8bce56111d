// mod_crccache_client: the near side of the slow link. Directives and hooks only; what they do is in the other files.
#include "apache.h"
#include "cache_provider.h"
#include "cleared_origins.h"
#include "client_module.h"
#include "config.h"
#include "counters.h"
#include "decode_filter.h"
#include "filter_order.h"
#include "guard.h"
#include "ledger.h"
#include "outcome.h"
#include "refetch.h"
#include "request_hook.h"
#include "request_state.h"
#include "status_handler.h"
#include "write_turn.h"

namespace crcsync::client {

namespace {

Counters* counters = nullptr;  // set while one thread runs

int pre_config(apr_pool_t*, apr_pool_t*, apr_pool_t*) {
    forget_enabled();
    return OK;
}

void warn_without_root(server_rec* main_server) {
    for (server_rec* server = main_server; server != nullptr; server = server->next) {
        if (config_of(server).enabled.value && !base_provider_ready(server)) {
            ap_log_error(
                APLOG_MARK, APLOG_WARNING, 0, server,
                "CRCSyncClient: no CacheRoot for the server %s:%u: it keeps no bases. A directive of mod_cache_disk "
                "in a virtual host drops the CacheRoot of the main server: repeat it there",
                server->server_hostname != nullptr ? server->server_hostname : "*",
                server->addrs != nullptr ? server->addrs->host_port : server->port);
        }
    }
}

int prepare_server(server_rec* server) {
    const bool has_store = find_base_provider();
    if (!enabled_anywhere()) return OK;
    if (!has_store) {
        ap_log_error(APLOG_MARK, APLOG_CRIT, 0, server,
                     "CRCSyncClient: there is no cache provider 'disk' to keep bases with: load mod_cache and "
                     "mod_cache_disk, and set CacheRoot");
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    if (ap_find_linked_module("mod_proxy.c") == nullptr) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, server,
                     "CRCSyncClient: only proxied requests get deltas, and mod_proxy is not loaded");
    }
    warn_without_root(server);
    warn_about_filters({decode_filter_name, decode_filter_type, "CRCSyncClient", false}, APLOG_MODULE_INDEX, server);
    open_ledger(server);
    open_write_turns(server);
    open_cleared_origins(server);
    counters = open_counters("CRCSyncClient", server);
    return OK;
}

int post_config(apr_pool_t*, apr_pool_t*, apr_pool_t*, server_rec* server) {
    return guard(
        server, "the start", [&] { return prepare_server(server); }, [] { return HTTP_INTERNAL_SERVER_ERROR; });
}

// The last request of a chain of internal redirects that has gone upstream tells what became of all.
int log_transaction(request_rec* first) {
    request_rec* last = first;
    while (last->next != nullptr) last = last->next;
    const RequestState* state = nullptr;
    for (const request_rec* r = last; r != nullptr && state == nullptr; r = r->prev) state = find_state(r);
    if (state == nullptr) return DECLINED;
    guard(
        last, "the log hook",
        [&] {
            set_notes(last, state->outcome);
            log_outcome(last, "client", APLOG_MODULE_INDEX, state->outcome);
            if (counters != nullptr) counters->add(state->outcome);
        },
        [] {});
    return DECLINED;
}

void register_hooks(apr_pool_t* pool) {
    static const char* const cache[] = {"mod_cache.c", nullptr};
    static const char* const proxy[] = {"mod_proxy.c", nullptr};
    register_provider(pool);
    register_decode_filter();
    register_refetch();
    ap_hook_pre_config(pre_config, nullptr, nullptr, APR_HOOK_MIDDLE);
    ap_hook_post_config(post_config, nullptr, nullptr, APR_HOOK_MIDDLE);
    ap_hook_handler(prepare_request, cache, proxy, APR_HOOK_FIRST);
    ap_hook_handler(handle_status, nullptr, nullptr, APR_HOOK_MIDDLE);
    ap_hook_log_transaction(log_transaction, nullptr, nullptr, APR_HOOK_FIRST);
}

}  // namespace

}  // namespace crcsync::client

// httpd finds the record by its name.
#pragma GCC visibility push(default)
extern "C" {
module AP_MODULE_DECLARE_DATA crccache_client_module = {STANDARD20_MODULE_STUFF,
                                                        crcsync::client::create_config,
                                                        crcsync::client::merge_config,
                                                        nullptr,
                                                        nullptr,
                                                        crcsync::client::directives,
                                                        crcsync::client::register_hooks,
                                                        AP_MODULE_FLAG_NONE};
}
#pragma GCC visibility pop
