#include "cache_provider.h"

#include <sys/statvfs.h>

namespace crcsync::client {

namespace {

constexpr const char* provider_version = "0";

const cache_provider* storing = nullptr;  // set while one thread runs

// What is left free: others write between our look at the disk and our own writing.
constexpr std::uint64_t reserved_bytes = 4 * 1024 * 1024;
constexpr std::uint64_t reserved_files = 64;

// CacheRoot of this server; null if it has none, or the provider is not mod_cache_disk. mod_cache_disk does not merge:
// one of its directives in a virtual host drops an inherited CacheRoot, and all that it says later is DECLINED, as for
// an entity that is too large. The first member of its configuration is cache_root, and has been in all of 2.4.
const char* cache_root(const server_rec* server) {
    const module* disk = ap_find_linked_module("mod_cache_disk.c");
    const void* config = disk != nullptr ? ap_get_module_config(server->module_config, disk) : nullptr;
    return config != nullptr ? *static_cast<const char* const*>(config) : nullptr;
}

// What mod_cache calls. It sees a provider that declines everything where there is nothing to forward to.
int remove_entity(cache_handle_t* h) {
    return storing != nullptr ? storing->remove_entity(h) : DECLINED;
}
apr_status_t store_headers(cache_handle_t* h, request_rec* r, cache_info* info) {
    return storing != nullptr ? storing->store_headers(h, r, info) : APR_ENOTIMPL;
}
apr_status_t store_body(cache_handle_t* h, request_rec* r, apr_bucket_brigade* in, apr_bucket_brigade* out) {
    return storing != nullptr ? storing->store_body(h, r, in, out) : APR_ENOTIMPL;
}
apr_status_t recall_headers(cache_handle_t* h, request_rec* r) {
    return storing != nullptr ? storing->recall_headers(h, r) : APR_ENOTIMPL;
}
apr_status_t recall_body(cache_handle_t* h, apr_pool_t* p, apr_bucket_brigade* bb) {
    return storing != nullptr ? storing->recall_body(h, p, bb) : APR_ENOTIMPL;
}
int create_entity(cache_handle_t* h, request_rec* r, const char* key, apr_off_t length, apr_bucket_brigade* bb) {
    const std::uint64_t known = length > 0 ? static_cast<std::uint64_t>(length) : 0;
    if (storing == nullptr || !base_provider_has_room(r->server, known)) return DECLINED;
    return storing->create_entity(h, r, key, length, bb);
}
int open_entity(cache_handle_t* h, request_rec* r, const char* key) {
    return storing != nullptr ? storing->open_entity(h, r, key) : DECLINED;
}
int remove_url(cache_handle_t* h, request_rec* r) {
    return storing != nullptr ? storing->remove_url(h, r) : DECLINED;
}
apr_status_t commit_entity(cache_handle_t* h, request_rec* r) {
    if (storing == nullptr) return APR_ENOTIMPL;
    return base_provider_has_room(r->server, 0) ? storing->commit_entity(h, r) : APR_ENOSPC;
}
apr_status_t invalidate_entity(cache_handle_t* h, request_rec* r) {
    return storing != nullptr ? storing->invalidate_entity(h, r) : APR_ENOTIMPL;
}

const cache_provider forwarding = {remove_entity, store_headers, store_body, recall_headers, recall_body,
                                   create_entity, open_entity,   remove_url, commit_entity,  invalidate_entity};

}  // namespace

void register_provider(apr_pool_t* pool) {
    ap_register_provider(pool, CACHE_PROVIDER_GROUP, "crcsync", provider_version, &forwarding);
}

bool find_base_provider() {
    storing = static_cast<const cache_provider*>(ap_lookup_provider(CACHE_PROVIDER_GROUP, "disk", provider_version));
    return storing != nullptr;
}

const cache_provider* base_provider() {
    return storing;
}

bool base_provider_ready(const server_rec* server) {
    return ap_find_linked_module("mod_cache_disk.c") == nullptr || cache_root(server) != nullptr;
}

bool base_provider_has_room(const server_rec* server, std::uint64_t bytes) {
    const char* root = cache_root(server);
    struct statvfs disk {};
    // What cannot be looked at, the provider itself refuses.
    if (root == nullptr || statvfs(root, &disk) != 0) return true;
    const std::uint64_t available = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
    const bool files = disk.f_files == 0 || disk.f_favail >= reserved_files;
    return files && available >= reserved_bytes && available - reserved_bytes >= bytes;
}

}  // namespace crcsync::client
