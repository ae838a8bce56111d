#include "request.h"

#include <cstring>

#include "fields.h"
#include "if_block.h"
#include "log_module.h"
#include "pool.h"

namespace crcsync::server {

namespace {

request_rec* first_of_chain(request_rec* r) {
    while (r->prev != nullptr) r = r->prev;
    return r;
}

std::string_view field(const request_rec* r, const char* name) {
    const char* value = apr_table_get(r->headers_in, name);
    return value != nullptr ? value : "";
}

bool has_range(const request_rec* r) {
    // httpd still reads the draft's name from very old clients.
    return apr_table_get(r->headers_in, "Range") != nullptr || apr_table_get(r->headers_in, "Request-Range") != nullptr;
}

// For an ErrorDocument httpd makes a GET of any method, and keeps the name of the real one.
bool is_get(const request_rec* r) {
    const char* original = apr_table_get(r->subprocess_env, "REDIRECT_REQUEST_METHOD");
    return r->method_number == M_GET && r->header_only == 0 &&
           (original == nullptr || std::strcmp(original, "GET") == 0);
}

// Why no response to `r` can be a delta, as far as the request tells.
Reason request_refusal(const request_rec* r, const char* if_block) {
    if (!is_get(r)) return Reason::method;
    if (has_range(r)) return Reason::range;
    if (if_block == nullptr) return Reason::no_base;
    // httpd joins fields of the same name by a comma, which no If-Block holds.
    if (std::strchr(if_block, ',') != nullptr) return Reason::bad_if_block;
    const auto accepted = field(r, "Accept-Encoding");
    if (fields::refuses_coding(accepted, "crcsync") || fields::refuses_coding(accepted, "identity")) {
        return Reason::not_acceptable;
    }
    return Reason::none;
}

// Sets the field to `value`, or takes it out if that is null.
void set_field(request_rec* r, const char* name, const char* value) {
    if (value != nullptr) {
        apr_table_setn(r->headers_in, name, value);
    } else {
        apr_table_unset(r->headers_in, name);
    }
}

void change_field(request_rec* r, Request& request, const char* name, const char* value) {
    if (request.changed_count == Request::max_changed) return;
    const char* original = apr_table_get(r->headers_in, name);
    request.changed[request.changed_count++] = {name, original, value};
    set_field(r, name, value);
}

void strip_suffixes(request_rec* r, Request& request, const char* name) {
    bool changed = false;
    const auto stripped = fields::strip_tag_suffixes(field(r, name), changed);
    if (changed) change_field(r, request, name, apr_pstrmemdup(r->pool, stripped.data(), stripped.size()));
}

void change_fields(request_rec* r) {
    const char* if_block = apr_table_get(r->headers_in, "If-Block");
    if (if_block == nullptr) return;
    auto& request = get_request(r);
    if (request.changed_count != 0) {
        // Something has set the field anew since; it is not the client's.
        apr_table_unset(r->headers_in, "If-Block");
        return;
    }
    request.if_block = if_block;
    request.refusal = request_refusal(r, if_block);
    request.outcome.request_bytes = if_block_line_size(if_block);
    change_field(r, request, "If-Block", nullptr);
    for (const char* name : {"If-None-Match", "If-Match", "If-Range"}) strip_suffixes(r, request, name);
    if (request.refusal == Reason::none) change_field(r, request, "Accept-Encoding", "identity");
}

bool same(const char* a, const char* b) {
    return a == nullptr || b == nullptr ? a == b : std::strcmp(a, b) == 0;
}

// A field that somebody else has set meanwhile stays as it is.
void restore_fields(request_rec* r, Request& request) {
    for (int i = 0; i < request.changed_count; ++i) {
        const auto& changed = request.changed[i];
        if (same(apr_table_get(r->headers_in, changed.name), changed.changed)) {
            set_field(r, changed.name, changed.original);
        }
    }
    request.changed_count = 0;
}

}  // namespace

Request* find_request(const request_rec* r) {
    while (r->prev != nullptr) r = r->prev;
    return static_cast<Request*>(ap_get_module_config(r->request_config, &crccache_server_module));
}

Request& get_request(request_rec* r) {
    auto* first = first_of_chain(r);
    if (auto* found = find_request(first)) return *found;
    auto* made = make_in_pool<Request>(first->pool);
    made->refusal = request_refusal(r, nullptr);
    made->outcome.base = std::nullopt;  // only the client knows which one it is
    ap_set_module_config(first->request_config, &crccache_server_module, made);
    return *made;
}

Reason section_refusal(const request_rec* r) {
    if (!config_of(r).is_on()) return Reason::disabled;
    if (apr_table_get(r->subprocess_env, "no-crcsync") != nullptr) return Reason::env;
    return Reason::none;
}

void settle_fields(request_rec* r) {
    if (section_refusal(r) == Reason::none) {
        change_fields(r);
    } else if (auto* request = find_request(r)) {
        restore_fields(r, *request);
    }
}

void note_bypass(request_rec* r, Reason refusal) {
    const char* if_block = apr_table_get(r->headers_in, "If-Block");
    if (refusal == Reason::disabled && if_block == nullptr && find_request(r) == nullptr) return;
    auto& outcome = get_request(r).outcome;
    outcome.result = Result::bypassed;
    outcome.reason = refusal;
    if (if_block != nullptr) outcome.request_bytes = if_block_line_size(if_block);
}

std::optional<std::string> tag_for_not_modified(const Request& request, std::string_view tag) {
    const auto strong = [](std::string_view text) { return text.starts_with("W/") ? text.substr(2) : text; };
    std::optional<std::string> suffixed;
    for (int i = 0; i < request.changed_count; ++i) {
        const auto& changed = request.changed[i];
        if (std::strcmp(changed.name, "If-None-Match") != 0 || changed.original == nullptr) continue;
        for (const auto& member : fields::split_list(changed.original)) {
            const auto split = fields::split_tag_suffix(member);
            if (strong(split.original) != strong(tag)) continue;
            // Whoever has both has the plain one, which stands for itself whatever the base is.
            if (!split.found) return std::nullopt;
            if (!suffixed) suffixed = fields::tag_with_suffix(tag, split.coding);
        }
    }
    return suffixed;
}

}  // namespace crcsync::server
