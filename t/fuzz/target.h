// What every fuzz target has in common: libFuzzer's entry point, checks, and a reader that takes values off the input.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.h"

// One input. Ends the process where a check fails; returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// Not assert(): it must hold in every kind of build.
#define FUZZ_CHECK(condition)                                                              \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                  \
        }                                                                                  \
    } while (false)

namespace fuzz {

using crcsync::Bytes;

// Takes values from the front of the input; at its end, zeros and empty parts.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

    bool empty() const { return rest_.empty(); }

    std::uint8_t byte() {
        if (rest_.empty()) return 0;
        const std::uint8_t value = rest_.front();
        rest_ = rest_.subspan(1);
        return value;
    }

    std::uint32_t number16() {
        const std::uint32_t high = byte();
        return high << 8 | byte();
    }

    Bytes bytes(std::size_t size) {
        const Bytes part = rest_.first(std::min(size, rest_.size()));
        rest_ = rest_.subspan(part.size());
        return part;
    }

    Bytes rest() { return bytes(rest_.size()); }

private:
    Bytes rest_;
};

// Sizes of pieces, from the input: a count, and so many sizes, which are used in turn. A size above 200 stands for one
// that is larger than the buffers inside. Without any, and after many, all that is left comes at once.
class Cuts {
public:
    explicit Cuts(Input& input) : sizes_(crcsync::as_text(input.bytes(input.byte() % 8))) {}

    // The next piece, from the front of `rest`. It may be empty, but not for ever.
    Bytes next(Bytes& rest) {
        std::size_t size = rest.size();
        if (!sizes_.empty() && turn_ < max_pieces) {
            const std::uint8_t value = static_cast<std::uint8_t>(sizes_[turn_ % sizes_.size()]);
            size = value > 200 ? (value - 200U) * 1500U : value;
            if (turn_ % sizes_.size() == 0) size = std::max<std::size_t>(size, 1);
            ++turn_;
        }
        const Bytes piece = rest.first(std::min(size, rest.size()));
        rest = rest.subspan(piece.size());
        return piece;
    }

private:
    static constexpr std::size_t max_pieces = 200;
    std::string sizes_;
    std::size_t turn_ = 0;
};

// Keeps what it gets up to a bound that must not be passed, refuses from `refuse_at` bytes on, and checks that nobody
// calls after that.
class BoundedSink final : public crcsync::Sink {
public:
    explicit BoundedSink(std::uint64_t bound, std::uint64_t refuse_at = UINT64_MAX)
        : bound_(bound), refuse_at_(refuse_at) {}

    bool write(Bytes bytes) override {
        FUZZ_CHECK(!refused_);
        text_.append(crcsync::as_text(bytes));
        FUZZ_CHECK(text_.size() <= bound_);
        refused_ = text_.size() >= refuse_at_;
        return !refused_;
    }

    const std::string& text() const { return text_; }
    bool refused() const { return refused_; }

private:
    std::uint64_t bound_;
    std::uint64_t refuse_at_;
    std::string text_;
    bool refused_ = false;
};

}  // namespace fuzz
