// Under which key a base is kept.
//
// A base may be offered only to the place that it came from: the key is the upstream URI after mapping, with its
// scheme, host, port and query, so that a reader's Host field cannot lead to another origin's base. Where the proxy
// passes the reader's Host on (ProxyPreserveHost), one upstream serves many hosts, and Host is part of the key.
//
// A response that varies has one base for each combination of the request fields that its Vary names. Two steps find
// it: under the URL's own key stands either the base of a URL that does not vary, or the list of names; with these the
// variant's key is made. Each URL has a fixed number of places for variants, so that 10,000 of them fill no disk.
#pragma once

#include <cstdint>
#include <string>

#include "apache.h"
#include "vary_names.h"

namespace crcsync::client {

// The origin that a request on its way to mod_proxy goes to: scheme, host and port of the upstream, and Host where the
// proxy passes it on.
std::string upstream_origin(const request_rec* r);

class BaseKey {
public:
    // `r` is a request on its way to mod_proxy; its fields are as the upstream will see them. `generation` is its
    // origin's (generation_of()): bases of another one are not found.
    BaseKey(const request_rec* r, std::uint32_t generation);

    // The key of what stands for the URL itself.
    const std::string& url() const { return url_; }

    // A hash of the URL, never 0, for the ledger.
    std::uint64_t hash() const { return hash_; }

    // What tells this request's variant from others: empty without names, else a hash in hex.
    std::string variant(const VaryNames& names) const;

    // The key of a variant's place.
    std::string place(const std::string& variant) const;

private:
    apr_pool_t* pool_;
    apr_table_t* fields_;
    std::string url_;
    std::uint64_t hash_ = 0;
};

}  // namespace crcsync::client
