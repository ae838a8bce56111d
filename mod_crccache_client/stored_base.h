// A base as the store holds it: its record, and its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apache.h"
#include "base.h"
#include "base_record.h"
#include "if_block.h"
#include "scratch_pool.h"
#include "status.h"

namespace crcsync::client {

class StoredBase final : public Base {
public:
    // `file` holds the bytes from offset 0 on and belongs to `pool`. Its size has been checked against the record.
    StoredBase(BaseRecord record, ScratchPool pool, apr_file_t* file);
    // The same with the bytes in memory.
    StoredBase(BaseRecord record, std::vector<std::uint8_t> bytes);

    const BaseRecord& record() const { return record_; }
    std::uint64_t size() const override { return record_.size; }
    bool read(std::uint64_t offset, std::span<std::uint8_t> out) override;

    // The signature with `count` blocks, after all bytes were read and found to be those of the record. A base of up to
    // `memory` bytes is in memory from then on. Status::base_failed if it is damaged.
    Status sign(std::uint32_t count, std::uint64_t memory, IfBlock& out);

private:
    bool load();

    BaseRecord record_;
    std::optional<ScratchPool> pool_;
    apr_file_t* file_ = nullptr;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace crcsync::client
