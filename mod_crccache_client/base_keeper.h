// Decides whether a response may become a base, copies it while it passes, and hands it to the store.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bytes.h"
#include "held_instance.h"
#include "inflater.h"
#include "reason.h"
#include "request_state.h"

namespace crcsync::client {

// Why the response of `state` may not become a base, as far as request and header fields tell; Reason::none if it may.
Reason base_refusal(const RequestState& state);

// Keeps a whole, verified instance as the base of its URL, where its size allows it. A store that fails is logged, and
// hurts nobody.
Reason keep_base(RequestState& state, HeldInstance& instance);

// The inflater format of a Content-Encoding that can be undone: one coding, gzip or deflate.
std::optional<Inflater::Format> inflater_format(std::string_view coding);

// A copy of a response that goes to the reader as it is. The coding, if it has one, is undone in the copy.
class BaseKeeper {
public:
    // `coding` is the response's, empty for none. Without `refusal`, bytes are copied.
    BaseKeeper(RequestState& state, std::string_view coding, Reason refusal);

    // The next bytes of the body, as they came.
    void take(Bytes bytes);

    // The response will be no base.
    void give_up(Reason reason);

    // The body is complete: keeps the base. Returns the size of the instance, if it is known.
    std::optional<std::uint64_t> finish();

private:
    RequestState& state_;
    std::optional<Inflater> inflater_;
    std::unique_ptr<HeldInstance> copy_;
};

}  // namespace crcsync::client
