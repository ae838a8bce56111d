#include "response.h"

#include <array>
#include <cstring>

#include "fields.h"
#include "log_module.h"

namespace crcsync::server {

namespace {

const char* in_pool(request_rec* r, std::string_view text) {
    return apr_pstrmemdup(r->pool, text.data(), text.size());
}

// All fields of this name in one table, as one list; empty if there is none.
std::string all_of(request_rec* r, const apr_table_t* table, const char* name) {
    const char* merged = apr_table_getm(r->pool, table, name);
    return merged != nullptr ? merged : "";
}

// The same for both tables.
std::string all_of(request_rec* r, const char* name) {
    auto list = all_of(r, r->headers_out, name);
    const auto more = all_of(r, r->err_headers_out, name);
    if (!list.empty() && !more.empty()) list += ", ";
    return list + more;
}

bool has(const request_rec* r, const char* name) {
    return apr_table_get(r->headers_out, name) != nullptr || apr_table_get(r->err_headers_out, name) != nullptr;
}

void unset(request_rec* r, const char* name) {
    apr_table_unset(r->headers_out, name);
    apr_table_unset(r->err_headers_out, name);
}

std::string content_type(request_rec* r) {
    return r->content_type != nullptr ? r->content_type : all_of(r, "Content-Type");
}

// mod_mime's coding is only in the request_rec. httpd lets it replace the field of headers_out when it sends the
// header, so one that stands in both places is one coding.
std::string content_encoding(request_rec* r) {
    auto list = all_of(r, "Content-Encoding");
    if (r->content_encoding == nullptr || fields::list_has(list, r->content_encoding)) return list;
    if (!list.empty()) list += ", ";
    return list + r->content_encoding;
}

// A digest of the bytes as the origin sends them: any of these would no longer fit what the client can rebuild from a
// coded body, and promises more than the delta's own hash. They may come as trailers too.
bool has_digest(request_rec* r) {
    const auto trailers = all_of(r, "Trailer");
    for (const char* name : {"Digest", "Repr-Digest", "Content-Digest", "Content-MD5"}) {
        if (has(r, name) || fields::list_has(trailers, name)) return true;
    }
    return false;
}

// One merged field, in the table where the origin's stands: what is in err_headers_out survives if the response
// becomes an error page.
void merge_vary(request_rec* r) {
    const auto merged = in_pool(r, fields::list_with(all_of(r, "Vary"), "If-Block"));
    auto* table = apr_table_get(r->err_headers_out, "Vary") != nullptr ? r->err_headers_out : r->headers_out;
    unset(r, "Vary");
    apr_table_setn(table, "Vary", merged);
}

// What the origin is capable of besides stays; crcsync it is only as far as we say so.
void add_capability(request_rec* r) {
    auto list = fields::list_without_word(all_of(r, "Capability"), "crcsync");
    if (!list.empty()) list += ", ";
    unset(r, "Capability");
    apr_table_setn(r->headers_out, "Capability", in_pool(r, list + "crcsync; m=1"));
}

// Replaces the tag where it stands.
void set_tag(request_rec* r, std::string_view tag) {
    for (auto* table : {r->headers_out, r->err_headers_out}) {
        if (apr_table_get(table, "ETag") != nullptr) apr_table_setn(table, "ETag", in_pool(r, tag));
    }
}

const char* tag_of(const request_rec* r) {
    const char* tag = apr_table_get(r->headers_out, "ETag");
    return tag != nullptr ? tag : apr_table_get(r->err_headers_out, "ETag");
}

}  // namespace

std::optional<std::uint64_t> announced_length(const request_rec* r) {
    const char* text = apr_table_get(r->headers_out, "Content-Length");
    if (text == nullptr) text = apr_table_get(r->err_headers_out, "Content-Length");
    apr_off_t length = 0;
    if (text == nullptr || !ap_parse_strict_length(&length, text)) return std::nullopt;
    return static_cast<std::uint64_t>(length);
}

ResponseFacts read_facts(request_rec* r, std::optional<std::uint64_t> body) {
    ResponseFacts facts;
    facts.status = r->status;
    // BYTERANGE comes after us and would cut the delta; it looks at the request again.
    facts.partial = has(r, "Content-Range") || apr_table_get(r->headers_in, "Range") != nullptr ||
                    apr_table_get(r->headers_in, "Request-Range") != nullptr;
    facts.digest = has_digest(r);
    facts.content_type = content_type(r);
    facts.content_encoding = content_encoding(r);
    facts.cache_control = all_of(r, "Cache-Control");
    facts.size = announced_length(r);
    if (!facts.size) facts.size = body;
    return facts;
}

void announce(request_rec* r, const Request& request) {
    merge_vary(r);
    add_capability(r);
    if (const char* regex = config_of(r).similar_for(content_type(r))) {
        unset(r, "Crcsync-Similar");
        apr_table_setn(r->headers_out, "Crcsync-Similar", regex);
    }
    const char* tag = tag_of(r);
    if (r->status == HTTP_NOT_MODIFIED && tag != nullptr) {
        if (const auto suffixed = tag_for_not_modified(request, tag)) set_tag(r, *suffixed);
    }
}

void describe_delta(request_rec* r, std::string_view coding) {
    if (const char* tag = tag_of(r)) set_tag(r, fields::tag_with_suffix(tag, coding));
    for (const char* name : {"Content-Encoding", "Content-Length", "Accept-Ranges"}) unset(r, name);
    r->content_encoding = nullptr;
    r->clength = 0;
    apr_table_setn(r->headers_out, "Content-Encoding", "crcsync");
}

}  // namespace crcsync::server
