// The decoder of protocol 1: takes a delta apart and checks everything that the format says.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "decoder.h"
#include "digest.h"
#include "inflater.h"

namespace crcsync {

class DeltaReader final : public Decoder, private Sink {
public:
    DeltaReader(const BlockLayout& layout, Base& base, const DecoderLimits& limits, Sink& sink);

    [[nodiscard]] Status push(Bytes piece) override;
    [[nodiscard]] Status finish() override;
    DecoderStats stats() const override { return stats_; }

private:
    enum class Part { identifier, block_number, literal_length, literal, compressed, strong_hash };

    [[nodiscard]] Status take(Bytes& in);
    [[nodiscard]] Status begin_section(std::uint8_t id);
    [[nodiscard]] Status copy_block(std::uint32_t number);
    [[nodiscard]] bool fill_field(Bytes& in, std::size_t size);
    bool write(Bytes bytes) override;  // everything that goes out: hashed, counted, handed to sink_
    std::uint64_t room() const { return limits_.max_instance - stats_.instance_bytes; }

    BlockLayout layout_;
    Base& base_;
    DecoderLimits limits_;
    Sink& sink_;

    Part part_ = Part::identifier;
    std::array<std::uint8_t, sha1_size> field_{};  // a number or hash that may come in pieces
    std::size_t field_size_ = 0;
    std::uint64_t literal_left_ = 0;  // bytes of the L section still to come
    std::optional<Inflater> inflater_;
    std::optional<Sha1Value> expected_;
    std::vector<std::uint8_t> copy_;  // a piece of a block on its way from base to sink
    Sha1 hash_;
    Status status_ = Status::ok;  // the first fault is final
    DecoderStats stats_;
};

}  // namespace crcsync
