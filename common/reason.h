// Why a response was no delta, or what went wrong: one enumeration for notes, counters, the log and the docs.
#pragma once

#include <array>
#include <cstddef>

#include "status.h"

namespace crcsync {

enum class Reason : unsigned char {
    none,                  // nothing to explain: a delta was made or decoded
    no_base,               // client: no base for this URL; server: the request has no If-Block
    not_get,               // a GET that carries a body
    range,                 // the request has Range, or the response is partial
    method,                // a method that cannot have a delta
    no_transform,          // Cache-Control: no-transform
    already_coded,         // a content coding that we cannot undo
    too_small,             // under the configured size
    too_large,             // over the configured size
    type,                  // the content type is not among those configured
    bad_if_block,          // the If-Block field is malformed
    unsupported_version,   // If-Block of a version that we do not speak
    block_limit,           // If-Block asks for blocks that are too large
    status,                // a status other than 200
    disabled,              // switched off for this section
    env,                   // no-crcsync is set
    private_response,      // private, Authorization or Set-Cookie: no base is kept
    no_store,              // no-store in request or response: no base is kept
    store_error,           // the base store failed
    store_limit,           // the base store refuses an instance of this size
    peer_without_crcsync,  // the answer to an If-Block had no Capability
    peer_declined,         // the answer to an If-Block is in full: the server module knows why
    not_paying,            // deltas of this URL cost more than they save
    digest,                // the response carries a digest of its exact bytes
    event_stream,          // a type that is read while it comes, text/event-stream above all
    foreign_if_block,      // the reader sent an If-Block of its own
    hash_mismatch,         // the strong hash of the rebuilt instance differs
    corrupt_delta,         // the delta breaks the format
    truncated,             // the body ended early
    upstream_error,        // the upstream failed in the middle of the body
    not_acceptable,        // the request refuses crcsync or identity (q=0)
    refused_request,       // 400, 413 or 431 to a request with If-Block
    own_suffix,            // a conditional of the reader ends in one of our own suffixes
    filter_order,          // client: another filter stands before ours, and would meet deltas
    cleared,               // Clear-Site-Data: the bases of the origin are forgotten, this one is not kept
    fault,                 // an error of ours, caught by the guard
    count_
};

inline constexpr std::size_t reason_count = static_cast<std::size_t>(Reason::count_);

// The code as it stands in notes and logs, for example "no-base". Reason::none is "-". Never null.
const char* name(Reason reason);

// The reason that stands for a core status; Status::ok gives Reason::none.
Reason reason_of(Status status);

}  // namespace crcsync
