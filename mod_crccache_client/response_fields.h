// Header fields of a response, turned from what the server module says to what the origin says. A field may stand in
// headers_out or in err_headers_out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apache.h"

namespace crcsync::client {

// All lines of a field, joined; empty if there is none.
std::string response_field(const request_rec* r, const char* name);

// Vary without If-Block, no Capability of ours, no Crcsync-Similar. True if the server module had marked the response
// with its Capability.
bool mend_common_fields(request_rec* r);

// What Content-Encoding holds, taken apart: `outer` is what was applied over crcsync, `inner` what was there before.
struct Coding {
    bool crcsync = false;
    std::string inner;  // without crcsync: all codings, as they stood
    std::string outer;
};
Coding split_coding(const request_rec* r);

// Whether there is a coding over the instance, and all of it is in general use.
bool has_known_coding(const Coding& coding);

// Whether the tag has one of our suffixes.
bool has_tag_suffix(const request_rec* r);

// For a decoded response of `size` bytes: the origin's tag, the codings that are left, the right length, and nothing
// that describes the bytes of the delta.
void mend_decoded_fields(request_rec* r, const std::string& coding_left, std::uint64_t size);

// For a response whose coding is undone while it passes: no coding, no length, a weak tag, or none where the tag has no
// weak form.
void mend_undone_fields(request_rec* r);

// For a 304: whoever asked by the weak form of the tag alone has the bytes that only that form names, and goes on with
// it.
void mend_not_modified_fields(request_rec* r);

// Whether the response carries a digest of its exact bytes, or forbids that they be changed.
bool is_bound_to_its_bytes(const request_rec* r);

}  // namespace crcsync::client
