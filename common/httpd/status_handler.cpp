#include "status_handler.h"

#include <atomic>
#include <cstring>

#include "guard.h"
#include "section.h"

namespace crcsync {

namespace {

void print_section(request_rec* r, const crcsync_section& section) {
    for (std::size_t i = 0; i < section.count; ++i) {
        if (section.names[i] == nullptr) continue;
        const auto value = std::atomic_ref(section.values[i]).load(std::memory_order_relaxed);
        ap_rprintf(r, "%s%s: %" APR_UINT64_T_FMT "\n", section.prefix, section.names[i],
                   static_cast<apr_uint64_t>(value));
    }
}

}  // namespace

int handle_status(request_rec* r) {
    if (r->handler == nullptr || std::strcmp(r->handler, "crcsync-status") != 0) return DECLINED;
    r->allowed |= AP_METHOD_BIT << M_GET;
    if (r->method_number != M_GET) return r->method_number == M_OPTIONS ? DECLINED : HTTP_METHOD_NOT_ALLOWED;
    return guard(
        r, "the status handler",
        [&] {
            ap_set_content_type(r, "text/plain; charset=utf-8");
            apr_table_setn(r->headers_out, "Cache-Control", "no-store");
            if (r->header_only != 0) return OK;
            const auto* sections = find_sections(r->server->process, false);
            for (const auto* s = sections != nullptr ? sections->first : nullptr; s != nullptr; s = s->next) {
                print_section(r, *s);
            }
            return OK;
        },
        [] { return HTTP_INTERNAL_SERVER_ERROR; });
}

}  // namespace crcsync
