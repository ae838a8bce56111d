// The provider that bases are kept with, and the mod_cache provider `crcsync`.
//
// CacheEnable crcsync "/" makes mod_cache keep its entities where the bases are. The provider forwards every call to
// the one that stores (disk); entities that are bases too are what the forwarding leaves room for.
#pragma once

#include <cstdint>

#include "apache.h"
#include "cache_api.h"

namespace crcsync::client {

// Registers the provider `crcsync`. Before any configuration is read.
void register_provider(apr_pool_t* pool);

// Looks up the provider that stores. False if no module offers it. From post_config.
bool find_base_provider();

// The provider that stores, or null.
const cache_provider* base_provider();

// Whether it has a place to store in for this server.
bool base_provider_ready(const server_rec* server);

// Whether `bytes` more may be stored for this server without filling the disk. mod_cache_disk (2.4.71 and before)
// destroys a pool twice when it cannot write an entity's header, which ends the child: so the disk is never brought to
// that. Asked before an entity is begun, and, with 0 bytes, before it is committed.
bool base_provider_has_room(const server_rec* server, std::uint64_t bytes);

}  // namespace crcsync::client
