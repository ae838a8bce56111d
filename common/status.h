// What the core's operations report. Wire input is never asserted on: whatever a peer sends ends in one of these.
#pragma once

namespace crcsync {

enum class Status {
    ok,
    bad_if_block,         // the field value is malformed
    unsupported_version,  // a protocol version that we do not speak
    block_limit,          // the field asks for larger blocks than allowed
    corrupt_delta,        // a section that breaks the format
    truncated,            // the body ends before it is whole
    hash_mismatch,        // whole and well-formed, but the strong hash differs
    too_large,            // the instance, or a section, passes its limit
    base_failed,          // the base cannot be read
    sink_failed,          // the sink refused output
};

// A word for logs and for the tool's messages, for example "corrupt-delta". Never null.
const char* name(Status status);

}  // namespace crcsync
