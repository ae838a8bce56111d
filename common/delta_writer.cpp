#include "delta_writer.h"

#include "sections.h"

namespace crcsync {

namespace {

Status status_of(bool written) {
    return written ? Status::ok : Status::sink_failed;
}

}  // namespace

DeltaWriter::DeltaWriter(const IfBlock& if_block, const EncoderOptions& options, Sink& sink)
    : if_block_(if_block),
      sink_(sink),
      literals_(options.buffer_size, options.compression_level, *this),
      matcher_(if_block_, *this) {}

Status DeltaWriter::push(Bytes piece) {
    hash_.update(piece);
    stats_.instance_bytes += piece.size();
    return status_of(matcher_.push(piece));
}

Status DeltaWriter::flush() {
    return status_of(matcher_.flush() && literals_.flush());
}

Status DeltaWriter::finish() {
    if (!matcher_.finish() || !literals_.end_run()) return Status::sink_failed;
    const Sha1Value hash = hash_.finish();
    const std::uint8_t id = section::strong_hash;
    return status_of(write({&id, 1}) && write(hash));
}

bool DeltaWriter::literal(Bytes bytes) {
    stats_.literal_bytes += bytes.size();
    return literals_.append(bytes);
}

bool DeltaWriter::block(std::uint32_t number, std::uint64_t /*length*/) {
    ++stats_.blocks;
    const std::uint8_t bytes[] = {section::block, static_cast<std::uint8_t>(number)};
    return literals_.end_run() && write(bytes);
}

bool DeltaWriter::write(Bytes bytes) {
    stats_.delta_bytes += bytes.size();
    return sink_.write(bytes);
}

}  // namespace crcsync
