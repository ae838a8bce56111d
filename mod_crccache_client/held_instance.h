// An instance that is held back or copied: in memory up to a limit, then in a temporary file. The file has no name: it
// is unlinked as soon as it is open, and gone when the request ends.
//
// Written once, from front to back. Then it can be looked at (view) any number of times, and taken away once, piece by
// piece, as buckets that the reader's filters may keep.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apache.h"
#include "bytes.h"
#include "digest.h"

namespace crcsync::client {

class HeldInstance final : public Sink {
public:
    // `pool` and `allocator` are the request's; the object must not outlive them. `max_size` is what write() accepts
    // in all, `memory` what of it stays in memory; both in bytes.
    HeldInstance(apr_pool_t* pool, apr_bucket_alloc_t* allocator, std::uint64_t memory, std::uint64_t max_size);
    ~HeldInstance() override;
    HeldInstance(const HeldInstance&) = delete;
    HeldInstance& operator=(const HeldInstance&) = delete;

    // False beyond max_size (too_large() tells), or if the temporary file cannot be made or written (error() tells).
    bool write(Bytes bytes) override;

    std::uint64_t size() const { return size_; }
    bool too_large() const { return too_large_; }
    apr_status_t error() const { return error_; }

    // The SHA-1 of all that was written; nothing may be written after it.
    const Sha1Value& sha1();

    // Appends buckets for the bytes from `offset` on, `length` of them. They refer to this object and must be gone
    // before it is, or before take() is called.
    void view(apr_bucket_brigade* brigade, std::uint64_t offset, std::uint64_t length);

    // Moves the next bytes, about `length` of them, to the end of `brigade`; false when all are taken. The buckets own
    // their memory; those of a file live as long as the request's pool.
    bool take(apr_bucket_brigade* brigade, std::uint64_t length);

private:
    struct Chunk {
        char* data;  // from malloc
        std::size_t used;
        std::size_t capacity;
    };

    bool write_memory(Bytes bytes);
    bool write_file(Bytes bytes);
    bool open_file();
    void free_chunks();

    apr_pool_t* pool_;
    apr_bucket_alloc_t* allocator_;
    std::uint64_t memory_;
    std::uint64_t max_size_;
    std::uint64_t size_ = 0;
    std::vector<Chunk> chunks_;
    std::size_t taken_chunks_ = 0;
    apr_file_t* file_ = nullptr;
    apr_bucket_brigade* file_rest_ = nullptr;  // what take() has left of the file
    Sha1 hash_;
    std::optional<Sha1Value> sha1_;
    bool too_large_ = false;
    apr_status_t error_ = APR_SUCCESS;
};

}  // namespace crcsync::client
