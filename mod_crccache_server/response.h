// A response's header fields: what they tell, and what becomes of them. httpd keeps them in two tables, headers_out and
// err_headers_out, and some in the request_rec itself; all are looked at.
#pragma once

#include "apache.h"
#include "decision.h"
#include "request.h"

namespace crcsync::server {

// What the origin says about its response. `body` is its size as far as it is known from the data at hand.
ResponseFacts read_facts(request_rec* r, std::optional<std::uint64_t> body);

// Bytes that Content-Length announces.
std::optional<std::uint64_t> announced_length(const request_rec* r);

// Sets what every response of an enabled server carries: If-Block in Vary, Capability, Crcsync-Similar where it is
// configured for the type; on a 304, the tag with the suffix that the request's own conditional had.
void announce(request_rec* r, const Request& request);

// Makes the header that of a delta, of an instance whose coding at the origin was `coding`.
void describe_delta(request_rec* r, std::string_view coding);

}  // namespace crcsync::server
