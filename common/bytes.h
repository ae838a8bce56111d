// Views of bytes, and the sink that everything in the core writes to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace crcsync {

using Bytes = std::span<const std::uint8_t>;

inline Bytes as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline std::string_view as_text(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Where output goes. The caller owns the sink and keeps it alive as long as the object that writes to it. The
// bytes are valid during the call only: a sink that needs them later copies them.
class Sink {
public:
    virtual ~Sink() = default;

    // Takes all of `bytes` and returns true, or returns false when it can take no more (a full disk, a reader who
    // has left). After false the writer stops with Status::sink_failed and does not call again.
    [[nodiscard]] virtual bool write(Bytes bytes) = 0;
};

// Collects everything in memory: for tests, for the tool, and where a bound is known.
class StringSink final : public Sink {
public:
    bool write(Bytes bytes) override {
        text_.append(as_text(bytes));
        return true;
    }
    const std::string& text() const { return text_; }
    std::string take() { return std::exchange(text_, {}); }

private:
    std::string text_;
};

}  // namespace crcsync
