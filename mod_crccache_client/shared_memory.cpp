#include "shared_memory.h"

#include <cstring>

#include "client_module.h"

namespace crcsync::client {

void* shared_memory(server_rec* server, const char* key, std::size_t size) {
    apr_pool_t* pool = server->process->pool;
    void* block = nullptr;
    apr_pool_userdata_get(&block, key, pool);
    if (block != nullptr) return block;
    apr_shm_t* memory = nullptr;
    const apr_status_t status = apr_shm_create(&memory, size, nullptr, pool);
    if (status != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, status, server, "crcsync: no shared memory for %s", key);
        return nullptr;
    }
    block = std::memset(apr_shm_baseaddr_get(memory), 0, size);
    // The key is copied: our own constant is gone when the module is unloaded.
    apr_pool_userdata_set(block, key, apr_pool_cleanup_null, pool);
    return block;
}

}  // namespace crcsync::client
