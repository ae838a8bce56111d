// A pool of its own, owned by a C++ object: for calls into a cache provider, whose files must be closed at a known time
// and whose allocations may follow damaged data.
#pragma once

#include <new>

#include "apache.h"

namespace crcsync::client {

class ScratchPool {
public:
    ScratchPool() {
        // mod_cache_disk allocates what a header file says. With httpd's own handler a damaged length ends the child;
        // this one makes it an exception. apr_palloc holds nothing at that point.
        if (apr_pool_create_ex(
                &pool_, nullptr, [](int) -> int { throw std::bad_alloc(); }, nullptr) != APR_SUCCESS) {
            throw std::bad_alloc();
        }
    }
    ~ScratchPool() {
        if (pool_ != nullptr) apr_pool_destroy(pool_);
    }
    ScratchPool(ScratchPool&& other) noexcept : pool_(other.pool_) { other.pool_ = nullptr; }
    ScratchPool(const ScratchPool&) = delete;
    ScratchPool& operator=(const ScratchPool&) = delete;
    ScratchPool& operator=(ScratchPool&&) = delete;

    apr_pool_t* get() const { return pool_; }

private:
    apr_pool_t* pool_ = nullptr;
};

}  // namespace crcsync::client
