#include "block_plan.h"

#include <algorithm>
#include <cmath>

#include "if_block.h"

namespace crcsync {

std::uint32_t plan_blocks(std::uint64_t size, const BlockPlanOptions& options) {
    std::uint64_t count = options.blocks;
    if (count == 0) count = static_cast<std::uint64_t>(std::lround(std::sqrt(static_cast<double>(size)) / 3));
    count = std::min({std::max<std::uint64_t>(count, 1), std::uint64_t{max_blocks}, size / min_block_size});

    const auto line = [size](std::uint64_t blocks) {
        return if_block_line_size({}) + if_block_value_size(size, static_cast<std::uint32_t>(blocks));
    };
    while (count > 0 && line(count) > options.max_field) --count;
    return static_cast<std::uint32_t>(count);
}

namespace {

constexpr std::uint8_t max_halvings = 3;
constexpr std::uint8_t longest_pause = 9;  // the tenth fetch tries again

std::uint16_t permille(std::uint64_t part, std::uint64_t whole) {
    return static_cast<std::uint16_t>(
        std::clamp<double>(1000.0 * static_cast<double>(part) / static_cast<double>(whole), 1, 1000));
}

}  // namespace

std::uint32_t DeltaHistory::next_blocks(std::uint32_t planned) {
    if (planned == 0) return 0;
    if (pause > 0) {
        pause = std::min(pause, longest_pause);
        --pause;
        return 0;
    }
    return std::max<std::uint32_t>(planned >> std::min(halvings, max_halvings), 1);
}

void DeltaHistory::plain(std::uint64_t wire, std::uint64_t instance) {
    if (instance > 0) plain_permille = permille(wire, instance);
}

void DeltaHistory::delta(std::uint64_t request, std::uint64_t wire, std::uint64_t instance, std::uint64_t literal_bytes,
                         std::uint64_t literal_wire) {
    if (instance == 0) return;
    if (plain_permille == 0 && literal_bytes > 0) plain_permille = permille(literal_wire, literal_bytes);

    const std::uint64_t expected = plain_permille == 0 ? instance : instance * plain_permille / 1000;
    if (request + wire < expected) {
        if (halvings > 0) --halvings;
        last_pause = 0;
        return;
    }
    // First ask for less; when even that does not pay, for nothing, each time for longer.
    if (halvings < max_halvings) {
        ++halvings;
        return;
    }
    refused();
}

// The first time may have been an accident; from the second on the pauses double.
void DeltaHistory::refused() {
    pause = std::min(last_pause, longest_pause);
    last_pause = static_cast<std::uint8_t>(std::clamp(2 * last_pause, 1, int{longest_pause}));
}

}  // namespace crcsync
