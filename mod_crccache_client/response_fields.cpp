#include "response_fields.h"

#include <algorithm>
#include <array>

#include "fields.h"

namespace crcsync::client {

namespace {

using fields::split_list;

constexpr std::array<const char*, 4> digest_fields = {"Content-MD5", "Digest", "Repr-Digest", "Content-Digest"};

constexpr std::string_view known_codings = "gzip, x-gzip, deflate, br, zstd, compress, x-compress";

std::array<apr_table_t*, 2> tables(const request_rec* r) {
    return {r->headers_out, r->err_headers_out};
}

void unset_field(request_rec* r, const char* name) {
    for (apr_table_t* table : tables(r)) apr_table_unset(table, name);
}

// Replaces a field where it stands; an empty value removes it.
template <class Change>
void change_field(request_rec* r, const char* name, Change&& change) {
    for (apr_table_t* table : tables(r)) {
        const char* old = apr_table_getm(r->pool, table, name);
        if (old == nullptr) continue;
        const std::string value = change(std::string_view(old));
        if (value == old) continue;
        if (value.empty()) {
            apr_table_unset(table, name);
        } else {
            apr_table_set(table, name, value.c_str());
        }
    }
}

std::string append(std::string list, std::string_view member) {
    if (!list.empty()) list += ", ";
    return list += member;
}

}  // namespace

std::string response_field(const request_rec* r, const char* name) {
    std::string value;
    for (const apr_table_t* table : tables(r)) {
        const char* lines = apr_table_getm(r->pool, table, name);
        if (lines != nullptr) value = append(std::move(value), lines);
    }
    return value;
}

bool mend_common_fields(request_rec* r) {
    bool capable = false;
    change_field(r, "Vary", [](std::string_view value) { return fields::list_without(value, "If-Block"); });
    change_field(r, "Capability", [&](std::string_view value) {
        std::string others = fields::list_without_word(value, "crcsync");
        capable = capable || others != value;
        return others;
    });
    unset_field(r, "Crcsync-Similar");
    return capable;
}

Coding split_coding(const request_rec* r) {
    Coding coding;
    const std::string value = response_field(r, "Content-Encoding");
    for (const auto member : split_list(value)) {
        if (!coding.crcsync && fields::list_has(member, "crcsync")) {
            coding.crcsync = true;
        } else if (!fields::list_has(member, "identity")) {
            std::string& part = coding.crcsync ? coding.outer : coding.inner;
            part = append(std::move(part), member);
        }
    }
    return coding;
}

bool has_known_coding(const Coding& coding) {
    const auto members = split_list(coding.inner);
    return !members.empty() && std::all_of(members.begin(), members.end(),
                                           [](auto member) { return fields::list_has(known_codings, member); });
}

bool has_tag_suffix(const request_rec* r) {
    return fields::split_tag_suffix(response_field(r, "ETag")).found;
}

void mend_decoded_fields(request_rec* r, const std::string& coding_left, std::uint64_t size) {
    change_field(r, "Content-Encoding", [&](std::string_view) { return coding_left; });
    change_field(r, "ETag", [](std::string_view value) {
        const auto tag = fields::split_tag_suffix(value);
        // Of a coded instance only the bytes without the coding are promised, and these the tag does not name.
        const bool same_bytes = !tag.found || fields::list_has(tag.coding, "identity");
        return same_bytes ? tag.original : fields::weak_tag(tag.original);
    });
    for (const char* name : digest_fields) unset_field(r, name);
    apr_table_unset(r->err_headers_out, "Content-Length");
    ap_set_content_length(r, static_cast<apr_off_t>(size));
}

void mend_undone_fields(request_rec* r) {
    unset_field(r, "Content-Encoding");
    unset_field(r, "Content-Length");
    change_field(r, "ETag", fields::weak_tag);
}

void mend_not_modified_fields(request_rec* r) {
    const char* asked = apr_table_getm(r->pool, r->headers_in, "If-None-Match");
    if (asked == nullptr) return;
    const auto tags = split_list(asked);
    const auto has = [&tags](std::string_view tag) { return std::find(tags.begin(), tags.end(), tag) != tags.end(); };
    change_field(r, "ETag", [&has](std::string_view value) {
        const std::string weak = fields::weak_tag(value);
        return has(weak) && !has(value) ? weak : std::string(value);
    });
}

bool is_bound_to_its_bytes(const request_rec* r) {
    return fields::list_has_word(response_field(r, "Cache-Control"), "no-transform") ||
           std::any_of(digest_fields.begin(), digest_fields.end(),
                       [r](const char* name) { return !response_field(r, name).empty(); });
}

}  // namespace crcsync::client
