#include "held_instance.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace crcsync::client {

namespace {

constexpr std::size_t first_chunk = 8 * 1024;
constexpr std::size_t largest_chunk = 256 * 1024;

}  // namespace

HeldInstance::HeldInstance(apr_pool_t* pool, apr_bucket_alloc_t* allocator, std::uint64_t memory,
                           std::uint64_t max_size)
    : pool_(pool), allocator_(allocator), memory_(memory), max_size_(max_size) {}

HeldInstance::~HeldInstance() {
    // The file and the brigade are the pool's.
    free_chunks();
}

bool HeldInstance::write(Bytes bytes) {
    if (too_large_ || error_ != APR_SUCCESS) return false;
    if (bytes.size() > max_size_ - size_) {
        too_large_ = true;
        return false;
    }
    if (bytes.empty()) return true;
    if (file_ == nullptr && size_ + bytes.size() > memory_ && !open_file()) return false;
    if (!(file_ != nullptr ? write_file(bytes) : write_memory(bytes))) return false;
    hash_.update(bytes);
    size_ += bytes.size();
    return true;
}

bool HeldInstance::write_memory(Bytes bytes) {
    while (!bytes.empty()) {
        if (chunks_.empty() || chunks_.back().used == chunks_.back().capacity) {
            const std::size_t capacity =
                chunks_.empty() ? first_chunk : std::min(2 * chunks_.back().capacity, largest_chunk);
            chunks_.reserve(chunks_.size() + 1);
            auto* data = static_cast<char*>(std::malloc(capacity));
            if (data == nullptr) throw std::bad_alloc();
            chunks_.push_back({data, 0, capacity});
        }
        Chunk& chunk = chunks_.back();
        const std::size_t part = std::min(bytes.size(), chunk.capacity - chunk.used);
        std::memcpy(chunk.data + chunk.used, bytes.data(), part);
        chunk.used += part;
        bytes = bytes.subspan(part);
    }
    return true;
}

bool HeldInstance::write_file(Bytes bytes) {
    error_ = apr_file_write_full(file_, bytes.data(), bytes.size(), nullptr);
    return error_ == APR_SUCCESS;
}

// Opens the temporary file and moves to it what is in memory.
bool HeldInstance::open_file() {
    const char* directory = nullptr;
    error_ = apr_temp_dir_get(&directory, pool_);
    if (error_ != APR_SUCCESS) return false;
    char* name = apr_pstrcat(pool_, directory, "/crcsync-XXXXXX", nullptr);
    error_ = apr_file_mktemp(&file_, name, APR_FOPEN_CREATE | APR_FOPEN_READ | APR_FOPEN_WRITE | APR_FOPEN_EXCL, pool_);
    if (error_ != APR_SUCCESS) return false;
    error_ = apr_file_remove(name, pool_);
    for (const Chunk& chunk : chunks_) {
        if (error_ == APR_SUCCESS) error_ = apr_file_write_full(file_, chunk.data, chunk.used, nullptr);
    }
    free_chunks();
    return error_ == APR_SUCCESS;
}

void HeldInstance::free_chunks() {
    for (const Chunk& chunk : chunks_) std::free(chunk.data);
    chunks_.clear();
}

const Sha1Value& HeldInstance::sha1() {
    if (!sha1_) sha1_ = hash_.finish();
    return *sha1_;
}

void HeldInstance::view(apr_bucket_brigade* brigade, std::uint64_t offset, std::uint64_t length) {
    if (file_ != nullptr) {
        const auto start = static_cast<apr_off_t>(offset);
        APR_BRIGADE_INSERT_TAIL(brigade, apr_bucket_file_create(file_, start, length, pool_, allocator_));
        return;
    }
    for (const Chunk& chunk : chunks_) {
        if (length == 0) break;
        if (offset >= chunk.used) {
            offset -= chunk.used;
            continue;
        }
        const std::size_t part = std::min<std::uint64_t>(length, chunk.used - offset);
        APR_BRIGADE_INSERT_TAIL(brigade, apr_bucket_immortal_create(chunk.data + offset, part, allocator_));
        length -= part;
        offset = 0;
    }
}

bool HeldInstance::take(apr_bucket_brigade* brigade, std::uint64_t length) {
    if (file_ != nullptr) {
        if (file_rest_ == nullptr) {
            file_rest_ = apr_brigade_create(pool_, allocator_);
            // One bucket that is split: its parts share the file, which a filter may move to another pool.
            APR_BRIGADE_INSERT_TAIL(file_rest_, apr_bucket_file_create(file_, 0, size_, pool_, allocator_));
        }
        if (APR_BRIGADE_EMPTY(file_rest_)) return false;
        apr_bucket* bucket = APR_BRIGADE_FIRST(file_rest_);
        if (bucket->length > length) apr_bucket_split(bucket, length);
        APR_BUCKET_REMOVE(bucket);
        APR_BRIGADE_INSERT_TAIL(brigade, bucket);
        return true;
    }
    if (taken_chunks_ == chunks_.size()) return false;
    std::uint64_t taken = 0;
    while (taken_chunks_ < chunks_.size() && taken < length) {
        Chunk& chunk = chunks_[taken_chunks_++];
        taken += chunk.used;
        APR_BRIGADE_INSERT_TAIL(brigade, apr_bucket_heap_create(chunk.data, chunk.used, std::free, allocator_));
        chunk.data = nullptr;  // the bucket's now
    }
    return true;
}

}  // namespace crcsync::client
