#include "decision.h"

#include <algorithm>
#include <array>

#include "fields.h"

namespace crcsync::server {

namespace {

// "Text/HTML; charset=utf-8" is "text/html".
std::string bare_type(std::string_view content_type) {
    content_type = content_type.substr(0, content_type.find(';'));
    while (!content_type.empty() && (content_type.back() == ' ' || content_type.back() == '\t')) {
        content_type.remove_suffix(1);
    }
    while (!content_type.empty() && (content_type.front() == ' ' || content_type.front() == '\t')) {
        content_type.remove_prefix(1);
    }
    return fields::lower_case(content_type);
}

bool mask_matches(std::string_view mask, std::string_view type) {
    if (mask == "*/*") return true;
    if (!mask.ends_with("/*")) return mask == type;
    return type.starts_with(mask.substr(0, mask.size() - 1));
}

// A token without the star, which has a meaning of its own in masks.
bool is_plain_token(std::string_view text) {
    return fields::is_token(text) && text.find('*') == std::string_view::npos;
}

// Sets undo and coding, or the reason why not.
void decide_coding(std::string_view content_encoding, Decision& decision) {
    decision.coding = "identity";
    auto codings = fields::split_list(content_encoding);
    std::erase_if(codings, [](auto coding) { return fields::lower_case(coding) == "identity"; });
    if (codings.empty()) return;
    decision.coding = fields::lower_case(codings.front());
    const bool one = codings.size() == 1;
    if (one && (decision.coding == "gzip" || decision.coding == "x-gzip")) {
        decision.undo = Undo::gzip;
    } else if (one && decision.coding == "deflate") {
        decision.undo = Undo::deflate;
    } else {
        decision.reason = Reason::already_coded;
    }
}

// The reason to refuse that lies in the response; none if there is none.
Reason refusal(const Policy& policy, const ResponseFacts& facts) {
    if (facts.status != 200) return facts.status == 206 ? Reason::range : Reason::status;
    if (facts.partial) return Reason::range;
    if (fields::list_has(facts.cache_control, "no-transform")) return Reason::no_transform;
    if (facts.digest) return Reason::digest;
    if (fields::is_stream_type(facts.content_type)) return Reason::event_stream;
    if (!type_matches(policy.types, facts.content_type) || type_matches(policy.types_excluded, facts.content_type)) {
        return Reason::type;
    }
    // A delta is never empty: its hash alone takes more than nothing.
    if (facts.size && (*facts.size == 0 || *facts.size < policy.min_size)) return Reason::too_small;
    return Reason::none;
}

}  // namespace

bool type_matches(TypeMasks masks, std::string_view content_type) {
    const auto type = bare_type(content_type);
    return std::any_of(masks.begin(), masks.end(), [&](const char* mask) { return mask_matches(mask, type); });
}

bool is_type_mask(std::string_view mask) {
    if (mask == "*/*") return true;
    const auto slash = mask.find('/');
    if (slash == std::string_view::npos || !is_plain_token(mask.substr(0, slash))) return false;
    const auto subtype = mask.substr(slash + 1);
    return subtype == "*" || is_plain_token(subtype);
}

bool is_compressed_type(std::string_view content_type) {
    constexpr std::array plain_images = {"image/svg+xml", "image/bmp", "image/x-ms-bmp", "image/vnd.microsoft.icon",
                                         "image/x-icon",  "image/tiff"};
    constexpr std::array compressed = {"image/*",
                                       "video/*",
                                       "audio/*",
                                       "font/woff",
                                       "font/woff2",
                                       "application/font-woff",
                                       "application/zip",
                                       "application/gzip",
                                       "application/x-gzip",
                                       "application/x-bzip2",
                                       "application/x-xz",
                                       "application/zstd",
                                       "application/x-7z-compressed",
                                       "application/vnd.rar",
                                       "application/java-archive",
                                       "application/epub+zip",
                                       "application/vnd.debian.binary-package"};
    return type_matches(compressed, content_type) && !type_matches(plain_images, content_type);
}

Decision decide(std::string_view if_block, const Policy& policy, const ResponseFacts& facts) {
    Decision decision;
    decision.reason = refusal(policy, facts);
    if (decision.reason == Reason::none) decide_coding(facts.content_encoding, decision);
    if (decision.reason == Reason::none) {
        decision.reason = reason_of(parse_if_block(if_block, policy.max_block, decision.if_block));
    }
    decision.compressible = !is_compressed_type(facts.content_type);
    return decision;
}

}  // namespace crcsync::server
