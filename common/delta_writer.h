// The encoder of protocol 1: matcher, literal coder and strong hash, put together.
#pragma once

#include "digest.h"
#include "encoder.h"
#include "literal_coder.h"
#include "matcher.h"

namespace crcsync {

class DeltaWriter final : public Encoder, private MatchListener, private Sink {
public:
    DeltaWriter(const IfBlock& if_block, const EncoderOptions& options, Sink& sink);

    [[nodiscard]] Status push(Bytes piece) override;
    [[nodiscard]] Status flush() override;
    [[nodiscard]] Status finish() override;
    EncoderStats stats() const override { return stats_; }

private:
    bool literal(Bytes bytes) override;
    bool block(std::uint32_t number, std::uint64_t length) override;
    bool write(Bytes bytes) override;  // counts what goes to sink_

    IfBlock if_block_;  // a copy: the matcher refers to it
    Sink& sink_;
    LiteralCoder literals_;
    Matcher matcher_;
    Sha1 hash_;
    EncoderStats stats_;
};

}  // namespace crcsync
