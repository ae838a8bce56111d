// Surgery on header field values: lists (Vary), codings (Accept-Encoding, Content-Encoding) and entity tags. Pure
// functions on strings, without httpd types, so that they can be tested and fuzzed alone. Field values come from
// peers: any bytes are valid input.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crcsync::fields {

// --- characters: field values are ASCII whatever the locale of the process says

std::string lower_case(std::string_view text);

// Whether `text` is a token (RFC 9110, section 5.6.2): what a field name or a coding may consist of. Not empty.
bool is_token(std::string_view text);

// --- lists (RFC 9110, section 5.6.1): members between commas, blanks trimmed, empty ones dropped; a comma inside a
// quoted string does not split.
std::vector<std::string_view> split_list(std::string_view list);

// Whether `list` has the member `token`, compared without regard to case.
bool list_has(std::string_view list, std::string_view token);

// `list` with `token` added if it is not there. A list that holds `*` stays as it is.
std::string list_with(std::string_view list, std::string_view token);

// `list` without `token`; empty if nothing else was in it. All other members keep order and spelling.
std::string list_without(std::string_view list, std::string_view token);

// Whether `word` begins a member of `list`, whatever its parameters: `private="X-Own"` for "private". Without regard to
// case.
bool list_has_word(std::string_view list, std::string_view word);

// `list` without the members that `word` begins, whatever their parameters: `crcsync; m=1` for "crcsync". If there is
// none, `list` as it stands.
std::string list_without_word(std::string_view list, std::string_view word);

// --- content types

// Whether bodies of this type are read while they come, and may have no end: event streams, lines of JSON, multipart
// that replaces itself, gRPC. Such a body is of no use until it is complete, if it is held back for verification.
bool is_stream_type(std::string_view content_type);

// --- codings (RFC 9110, section 12.5.3)

// Whether Accept-Encoding refuses `coding` with q=0, by name or, where the name does not stand in it, by `*;q=0`.
// `identity` is refused by `*;q=0` too, as the RFC says. Of a name that stands twice the first counts; x-gzip is gzip;
// a q that is no number refuses nothing.
bool refuses_coding(std::string_view accept_encoding, std::string_view coding);

// Whether Accept-Encoding names `coding` with a q above 0 (or `*` stands in it with one, and the name does not).
bool accepts_coding(std::string_view accept_encoding, std::string_view coding);

// What of Accept-Encoding the client sends on: only codings that we can undo (gzip, x-gzip, deflate, identity), with
// their q values. `*` becomes gzip where gzip does not stand in the list; `*;q=0` stays, so that identity is no more
// acceptable than it was. "identity" if nothing is left.
std::string narrow_accept_encoding(std::string_view accept_encoding);

// Whether `coding` is one of the names that a tag's suffix may hold: identity, gzip, x-gzip, deflate; without regard
// to case.
bool is_known_coding(std::string_view coding);

// --- entity tags (RFC 9110, section 8.8.3) and our suffix "-crcsync-<coding>"

// `tag` with the suffix, in lower case, inside its quotes; weak stays weak. An unquoted tag gets the suffix at its end,
// an empty one (a field without a value) none.
std::string tag_with_suffix(std::string_view tag, std::string_view coding);

struct SplitTag {
    bool found = false;    // there was a suffix with a known coding
    std::string original;  // the tag without it
    std::string coding;    // as it stood
};

// Takes one suffix with a known coding off `tag`: inside the quotes, or after the closing one.
SplitTag split_tag_suffix(std::string_view tag);

// The weak form of `tag`: W/"x". Weak tags stay as they are. What is no tag (not quoted, or `w/"x"`: the W is a capital
// one) has no weak form, and gives an empty text: it cannot say that other bytes are meant.
std::string weak_tag(std::string_view tag);

// A list of tags (If-None-Match, If-Match; a single one for If-Range), each without one suffix. `changed` tells
// whether any had one. What is not a tag (a date in If-Range, `*`) stays as it is.
std::string strip_tag_suffixes(std::string_view list, bool& changed);

}  // namespace crcsync::fields
