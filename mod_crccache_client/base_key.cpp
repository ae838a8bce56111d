#include "base_key.h"

#include <mod_proxy.h>

#include <algorithm>
#include <cstring>

#include "digest.h"
#include "hex.h"

namespace crcsync::client {

namespace {

// Places for variants of one URL.
constexpr unsigned place_count = 64;

bool preserves_host(const request_rec* r) {
    // Not by its symbol: mod_proxy may be loaded later than this module, or not at all.
    const module* proxy = ap_find_linked_module("mod_proxy.c");
    if (proxy == nullptr) return false;
    const auto* config = static_cast<proxy_dir_conf*>(ap_get_module_config(r->per_dir_config, proxy));
    return config != nullptr && config->preserve_host != 0;
}

// What tells hosts apart that share an upstream: Host, where the proxy passes it on.
std::string passed_host(const request_rec* r) {
    if (!preserves_host(r)) return {};
    const char* host = apr_table_get(r->headers_in, "Host");
    return std::string("\n").append(host != nullptr ? host : "");
}

// The upstream's URI: mod_proxy has put it into filename, except where SetHandler names the proxy.
std::string upstream_uri(const request_rec* r) {
    if (r->proxyreq != PROXYREQ_NONE) return r->filename;
    std::string uri = std::string(r->handler) + (r->filename != nullptr ? r->filename : "");
    if (r->args != nullptr) uri.append("?").append(r->args);
    return uri;
}

}  // namespace

std::string upstream_origin(const request_rec* r) {
    std::string origin = upstream_uri(r);
    const auto scheme_end = origin.find("://");
    if (scheme_end != std::string::npos) origin.resize(std::min(origin.find('/', scheme_end + 3), origin.size()));
    return origin + passed_host(r);
}

BaseKey::BaseKey(const request_rec* r, std::uint32_t generation) : pool_(r->pool), fields_(r->headers_in) {
    std::string text = upstream_uri(r) + passed_host(r);
    if (generation != 0) text.append("\n\n").append(std::to_string(generation));
    const Sha1Value hash = sha1(as_bytes(text));
    // Hashed, since a store may bound the length of a key.
    url_ = "crcsync-base-1:" + hex(hash);
    std::memcpy(&hash_, hash.data(), sizeof(hash_));
    if (hash_ == 0) hash_ = 1;
}

std::string BaseKey::variant(const VaryNames& names) const {
    if (names.empty()) return {};
    std::string text;
    for (const auto& name : names) {
        const char* value = apr_table_getm(pool_, fields_, name.c_str());
        // An absent field is another variant than an empty one.
        text.append(name).append(value != nullptr ? ":" : "-").append(value != nullptr ? value : "").append("\n");
    }
    return hex(sha1(as_bytes(text)));
}

std::string BaseKey::place(const std::string& variant) const {
    if (variant.empty()) return url_;
    const auto number = std::stoul(variant.substr(0, 4), nullptr, 16) % place_count;
    return url_ + ":" + std::to_string(number);
}

}  // namespace crcsync::client
