#include "stored_base.h"

#include <apr_portable.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "digest.h"
#include "signature.h"

namespace crcsync::client {

namespace {

// Reads through to a base and hashes what passes: a signature reads all bytes once, in order.
class HashedReads final : public Base {
public:
    explicit HashedReads(Base& base) : base_(base) {}
    std::uint64_t size() const override { return base_.size(); }
    bool read(std::uint64_t offset, std::span<std::uint8_t> out) override {
        if (offset != next_ || !base_.read(offset, out)) return false;
        next_ += out.size();
        hash_.update(out);
        return true;
    }
    bool complete() const { return next_ == base_.size(); }
    Sha1Value sha1() { return hash_.finish(); }

private:
    Base& base_;
    std::uint64_t next_ = 0;
    Sha1 hash_;
};

}  // namespace

StoredBase::StoredBase(BaseRecord record, ScratchPool pool, apr_file_t* file)
    : record_(std::move(record)), pool_(std::move(pool)), file_(file) {}

StoredBase::StoredBase(BaseRecord record, std::vector<std::uint8_t> bytes)
    : record_(std::move(record)), bytes_(std::move(bytes)) {}

bool StoredBase::read(std::uint64_t offset, std::span<std::uint8_t> out) {
    if (offset > record_.size || out.size() > record_.size - offset) return false;
    if (out.empty()) return true;
    if (file_ == nullptr) {
        std::memcpy(out.data(), bytes_.data() + offset, out.size());
        return true;
    }
    // By offset, not by mmap: a file that somebody truncates gives a short read then, not a signal.
    apr_os_file_t descriptor = -1;
    apr_os_file_get(&descriptor, file_);
    while (!out.empty()) {
        const ssize_t count = pread(descriptor, out.data(), out.size(), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        offset += static_cast<std::uint64_t>(count);
        out = out.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

bool StoredBase::load() {
    std::vector<std::uint8_t> bytes(record_.size);
    if (!read(0, bytes)) return false;
    bytes_ = std::move(bytes);
    file_ = nullptr;
    pool_.reset();
    return true;
}

Status StoredBase::sign(std::uint32_t count, std::uint64_t memory, IfBlock& out) {
    if (file_ != nullptr && record_.size <= memory && !load()) return Status::base_failed;
    HashedReads reads(*this);
    const Status status = make_signature(reads, count, out);
    if (status != Status::ok) return status;
    return reads.complete() && reads.sha1() == record_.sha1 ? Status::ok : Status::base_failed;
}

}  // namespace crcsync::client
