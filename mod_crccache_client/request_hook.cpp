#include "request_hook.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "block_plan.h"
#include "cleared_origins.h"
#include "client_module.h"
#include "decode_filter.h"
#include "fields.h"
#include "guard.h"
#include "request_state.h"
#include "response_fields.h"

namespace crcsync::client {

namespace {

// What a request's head may have with If-Block in it. Servers and gateways bound it, often at 8 KiB.
constexpr std::size_t max_head = 8000;

// What mod_proxy adds to a head: Host, Via, X-Forwarded-*, Connection, Max-Forwards.
constexpr std::size_t proxy_fields = 400;

std::string_view request_field(const request_rec* r, const char* name) {
    const char* value = apr_table_getm(r->pool, r->headers_in, name);
    return value != nullptr ? value : "";
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
    return std::any_of(starts.begin(), starts.end(), [text](auto start) { return text.starts_with(start); });
}

// Whether mod_proxy will take the request to an HTTP server.
bool goes_upstream(const request_rec* r) {
    std::string_view url;
    if (r->proxyreq == PROXYREQ_PROXY || r->proxyreq == PROXYREQ_REVERSE) {
        url = r->filename != nullptr ? r->filename : "";
    } else if (r->proxyreq == PROXYREQ_NONE) {
        url = r->handler != nullptr ? r->handler : "";  // SetHandler "proxy:..."
    }
    if (!url.starts_with("proxy:")) return false;
    url.remove_prefix(6);
    if (url.starts_with("unix:")) url.remove_prefix(std::min(url.size(), url.find('|') + 1));
    return starts_with_any(url, {"http://", "https://", "h2://", "h2c://", "balancer://"});
}

bool has_body(const request_rec* r) {
    const auto length = request_field(r, "Content-Length");
    return !request_field(r, "Transfer-Encoding").empty() || (!length.empty() && length != "0");
}

// Why the response of a request can be no delta, whatever base there is; Reason::none if it can.
Reason bypass_reason(const request_rec* r) {
    if (r->method_number != M_GET || r->header_only != 0) return Reason::method;
    if (has_body(r)) return Reason::not_get;
    if (r->status != HTTP_OK) return Reason::status;  // the document of an error
    if (!request_field(r, "Range").empty()) return Reason::range;
    return Reason::none;
}

// Why the request alone keeps its response from becoming a base.
Reason keep_refusal(const RequestState& state) {
    const request_rec* r = state.r;
    // Added by name, or by a module of a lower type: what it gives us is not what the upstream sent.
    if (!is_first_filter(state)) return Reason::filter_order;
    if (fields::list_has_word(request_field(r, "Cache-Control"), "no-store")) return Reason::no_store;
    // mod_proxy makes Authorization of a user in the URL.
    if (!request_field(r, "Authorization").empty() || r->parsed_uri.user != nullptr) return Reason::private_response;
    return Reason::none;
}

// Asks only for codings that can be undone, from the first fetch on, so that the first body can be a base. Without the
// field an upstream sends what it always sends, which is left to it; `crcsync` is not named: If-Block says it, and what
// lies between would keep one variant more.
void narrow_codings(RequestState& state) {
    const char* value = apr_table_getm(state.r->pool, state.r->headers_in, "Accept-Encoding");
    if (value == nullptr) return;
    state.has_accept_encoding = true;
    state.accept_encoding = value;
    const bool nothing_left = fields::refuses_coding(value, "identity") && !fields::accepts_coding(value, "gzip") &&
                              !fields::accepts_coding(value, "deflate");
    if (nothing_left) return;
    const std::string narrowed = fields::narrow_accept_encoding(value);
    if (narrowed != value) state.accept_encoding_field.change(state.r, narrowed.c_str());
}

bool has_own_suffix(const request_rec* r) {
    constexpr std::array<const char*, 3> conditionals = {"If-None-Match", "If-Match", "If-Range"};
    return std::any_of(conditionals.begin(), conditionals.end(), [r](const char* name) {
        bool changed = false;
        fields::strip_tag_suffixes(request_field(r, name), changed);
        return changed;
    });
}

// Why no If-Block may be sent, before any base is looked at.
Reason if_block_refusal(const RequestState& state) {
    if (state.is_refetch) return state.outcome.reason;
    for (const Reason reason : {Reason::private_response, Reason::filter_order}) {
        if (state.keep_refusal == reason) return reason;
    }
    // Identity is all that a delta gives, and a reader may say that he wants no delta.
    if (fields::refuses_coding(state.accept_encoding, "identity") ||
        fields::refuses_coding(state.accept_encoding, "crcsync")) {
        return Reason::not_acceptable;
    }
    // The server module would take it off, and the origin miss its own tag.
    if (has_own_suffix(state.r)) return Reason::own_suffix;
    return state.ledger.stopped();
}

void drop_base(RequestState& state) {
    BaseStore(state.r).drop(*state.key, state.found.names);
    state.found.base.reset();
}

// The number of blocks for the base that was found, or why there can be none.
Reason choose_blocks(RequestState& state, std::uint32_t& blocks) {
    const std::uint64_t size = state.found.base->size();
    if (size < state.config.min_base.value || size < min_block_size) return Reason::too_small;
    const std::size_t head = request_head_size(state.r);
    const std::size_t room = max_head - std::min(head, max_head);
    const std::uint32_t fixed = state.config.blocks.value;
    const BlockPlanOptions options = {fixed, std::min<std::size_t>(state.config.max_header.value, room)};
    const std::uint32_t planned = plan_blocks(size, options);
    if (planned == 0) return Reason::too_large;
    blocks = state.ledger.next_blocks(planned);
    if (blocks == 0) return Reason::not_paying;
    if (fixed != 0) blocks = planned;
    return Reason::none;
}

// Finds the base and makes its signature. Returns why not: Reason::store_error for a base that is damaged.
Reason sign_base(RequestState& state) {
    state.found = BaseStore(state.r).find(*state.key);
    if (state.found.damaged) return Reason::store_error;
    if (!state.found.base) return Reason::no_base;
    std::uint32_t blocks = 0;
    const Reason reason = choose_blocks(state, blocks);
    if (reason != Reason::none) return reason;
    const Status status = state.found.base->sign(blocks, state.config.hold_memory.value, state.if_block);
    return status == Status::ok ? Reason::none : Reason::store_error;
}

// Finds the base and sends its signature. Returns why not.
Reason send_if_block(RequestState& state) {
    request_rec* r = state.r;
    const Reason refusal = if_block_refusal(state);
    if (refusal != Reason::none) return refusal;

    Reason reason = sign_base(state);
    // On a busy page, once in a million times, mod_cache_disk gives the header of one entity with the body of a later
    // one: the file system has given that body's file the inode that the header names. What is damaged stays damaged.
    if (reason == Reason::store_error) reason = sign_base(state);
    if (reason == Reason::store_error) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "crcsync: %s: the base is damaged: it is dropped", loggable_url(r));
        drop_base(state);
    }
    if (reason != Reason::none) return reason;
    const std::string value = format_if_block(state.if_block);
    state.if_block.hashes = {};
    state.if_block_field.change(r, value.c_str());
    state.sent_if_block = true;
    state.outcome.base = BaseKind::self;
    state.outcome.request_bytes = if_block_line_size(value);
    return Reason::none;
}

// What lies on the way may have answered with a response that was meant for another request: it is asked to go to the
// origin.
void mark_as_refetch(RequestState& state, const RequestState& before) {
    state.is_refetch = true;
    state.outcome = before.outcome;
    state.outcome.result = Result::refetched;
    const auto cache_control = request_field(state.r, "Cache-Control");
    if (!fields::list_has_word(cache_control, "no-cache")) {
        const std::string value = fields::list_with(cache_control, "no-cache");
        state.cache_control_field.change(state.r, value.c_str());
    }
}

void prepare(request_rec* r, const RequestState* before) {
    RequestState& state = *make_state(r);
    state.outcome.result = Result::bypassed;
    if (apr_table_get(r->subprocess_env, "no-crcsync") != nullptr) {
        state.outcome.reason = Reason::env;
        return;
    }
    if (apr_table_get(r->headers_in, "If-Block") != nullptr) {
        state.outcome.reason = Reason::foreign_if_block;
        return;
    }
    // From here on the response's fields are mended, whatever becomes of the request.
    add_decode_filter(state);
    state.origin = upstream_origin(r);
    state.outcome.reason = bypass_reason(r);
    if (state.outcome.reason == Reason::none) state.snapshot.emplace(r);
    if (r->method_number == M_GET && r->header_only == 0) narrow_codings(state);
    if (state.outcome.reason != Reason::none) return;

    state.outcome.result = Result::full;
    state.key.emplace(r, generation_of(r, state.origin));
    state.ledger = ledger_page(state.key->hash());
    state.keep_refusal = keep_refusal(state);
    if (before != nullptr) mark_as_refetch(state, *before);
    state.outcome.reason = send_if_block(state);
}

}  // namespace

std::size_t request_head_size(const request_rec* r) {
    std::size_t size = proxy_fields + std::strlen(r->method) + std::strlen(" HTTP/1.1\r\n\r\n");
    size += r->filename != nullptr ? std::strlen(r->filename) : 0;
    apr_table_do(
        [](void* sum, const char* name, const char* value) -> int {
            *static_cast<std::size_t*>(sum) += std::strlen(name) + std::strlen(value) + std::strlen(": \r\n");
            return 1;
        },
        &size, r->headers_in, nullptr);
    return size;
}

int prepare_request(request_rec* r) {
    if (r->main != nullptr || !enabled_anywhere() || !goes_upstream(r) || !config_of(r).enabled.value) return DECLINED;
    guard(
        r, "the request hook", [r] { prepare(r, nullptr); },
        [r] {
            RequestState* state = find_state(r);
            if (state == nullptr) return;
            state->outcome.reason = Reason::fault;
            // Half set up it must not be sent.
            state->if_block_field.restore(r);
            state->sent_if_block = false;
            state->key.reset();
        });
    return DECLINED;
}

void prepare_again(request_rec* r, const RequestState& before) {
    prepare(r, &before);
}

}  // namespace crcsync::client
