// The signature of a base: the hashes of its blocks, ready to be sent as If-Block.
#pragma once

#include <cstdint>

#include "base.h"
#include "if_block.h"
#include "status.h"

namespace crcsync {

// Computes the hashes of `base` cut into `count` blocks (1 to 256, at most base.size()). Reads the base once, in
// pieces of at most 64 KiB. Status::base_failed if it cannot be read, Status::bad_if_block for a count that the
// layout does not allow.
Status make_signature(Base& base, std::uint32_t count, IfBlock& out);

}  // namespace crcsync
