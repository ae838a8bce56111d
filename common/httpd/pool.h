// C++ objects that an APR pool owns: the pool's cleanup runs the destructor.
#pragma once

#include <new>
#include <utility>

#include "apache.h"

namespace crcsync {

// Makes a T in `pool` that is destroyed with it. T's destructor must not throw. Throws what T's constructor throws;
// nothing is registered then.
template <class T, class... Args>
T* make_in_pool(apr_pool_t* pool, Args&&... args) {
    static_assert(std::is_nothrow_destructible_v<T>);
    void* memory = apr_palloc(pool, sizeof(T));
    static_assert(alignof(T) <= 8, "APR aligns to 8 bytes");
    T* object = new (memory) T(std::forward<Args>(args)...);
    apr_pool_cleanup_register(
        pool, object,
        [](void* data) -> apr_status_t {
            static_cast<T*>(data)->~T();
            return APR_SUCCESS;
        },
        apr_pool_cleanup_null);
    return object;
}

}  // namespace crcsync
