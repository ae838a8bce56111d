// May this response be a delta, against what base, and if not: why? Nothing here knows httpd, nor how a delta is
// carried, so that another carrier can ask the same question.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "if_block.h"
#include "reason.h"

namespace crcsync::server {

// A content type ("text/html"), a mask ("image/*"), or "*/*"; in lower case.
using TypeMasks = std::span<const char* const>;

// Whether one of `masks` fits the value of Content-Type; parameters and case don't matter. A response without a type
// fits "*/*" only.
bool type_matches(TypeMasks masks, std::string_view content_type);

// Whether `mask` may stand among TypeMasks.
bool is_type_mask(std::string_view mask);

// Whether bytes of this type are compressed already: to deflate them costs time and gains nothing.
bool is_compressed_type(std::string_view content_type);

// What the administrator allows.
struct Policy {
    std::uint64_t min_size = 0;   // bytes of body, as the origin sends it
    std::uint64_t max_block = 0;  // bytes
    TypeMasks types;
    TypeMasks types_excluded;
};

// What the origin has said about its response.
struct ResponseFacts {
    int status = 0;
    bool partial = false;               // Content-Range, or Range in the request
    bool digest = false;                // a digest of the exact bytes
    std::string content_type;           // empty: none
    std::string content_encoding;       // all codings, as a list
    std::string cache_control;          // all directives, as a list
    std::optional<std::uint64_t> size;  // bytes of body, where it is known before it is read
};

enum class Undo : unsigned char { nothing, gzip, deflate };

struct Decision {
    Reason reason = Reason::none;  // none: the response becomes a delta
    IfBlock if_block;              // the base
    Undo undo = Undo::nothing;     // the origin's coding, to be undone first
    std::string coding;            // its name, for the tag's suffix: "identity", "gzip", ...
    bool compressible = true;      // whether it pays to deflate literals
};

// `if_block` is the value of the request's field. Any value is valid input; a wrong one is a reason.
Decision decide(std::string_view if_block, const Policy& policy, const ResponseFacts& facts);

}  // namespace crcsync::server
