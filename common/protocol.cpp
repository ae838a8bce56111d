// Chooses the codecs by protocol version.

#include "decoder.h"
#include "delta_reader.h"
#include "delta_writer.h"
#include "encoder.h"

namespace crcsync {

std::unique_ptr<Encoder> make_encoder(const IfBlock& if_block, const EncoderOptions& options, Sink& sink) {
    if (if_block.version != 1) return nullptr;
    return std::make_unique<DeltaWriter>(if_block, options, sink);
}

std::unique_ptr<Decoder> make_decoder(const IfBlock& if_block, Base& base, const DecoderLimits& limits, Sink& sink) {
    if (if_block.version != 1) return nullptr;
    return std::make_unique<DeltaReader>(if_block.layout, base, limits, sink);
}

}  // namespace crcsync
