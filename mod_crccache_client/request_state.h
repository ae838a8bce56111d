// What the module knows of one request on its way upstream: set up by the request hook, used by the decode filter, and
// by the recovery at the end. Lives in the request's pool.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apache.h"
#include "base_key.h"
#include "base_store.h"
#include "config.h"
#include "if_block.h"
#include "ledger.h"
#include "outcome.h"
#include "request_snapshot.h"

namespace crcsync::client {

class DecodeFilter;

// What is done when the upstream's response has gone by and nothing of it reached the reader.
enum class Recovery {
    none,
    refetch,      // ask again, without If-Block
    bad_gateway,  // an error, since asking again gave nothing better
};

// A status by which a server, or a box on the way, says that a request is too large for it, or not understood.
inline bool is_refusal_of_if_block(int status) {
    return status == HTTP_BAD_REQUEST || status == HTTP_REQUEST_ENTITY_TOO_LARGE ||
           status == HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
}

// A field of the request that is changed for the way upstream only.
class BorrowedField {
public:
    explicit BorrowedField(const char* name) : name_(name) {}

    // Sets the field, or removes it where `value` is null.
    void change(request_rec* r, const char* value);

    // Puts back what the request had.
    void restore(request_rec* r);

private:
    const char* name_;
    const char* old_ = nullptr;
    bool changed_ = false;
};

struct RequestState {
    explicit RequestState(request_rec* request) : r(request), config(config_of(request)) {}

    // The reason that explains most: a fault or a refusal to keep a base says more than that there was none.
    void explain(Reason reason);

    // Counts body bytes that came over the slow link.
    void add_wire_bytes(std::uint64_t count) { outcome.wire_bytes = outcome.wire_bytes.value_or(0) + count; }

    // Takes the request's own fields back to what the reader, or mod_cache, had them.
    void restore_fields();

    request_rec* r;
    const Config& config;
    Outcome outcome;

    std::string origin;  // upstream_origin()

    // Set where the request is one that a delta could answer.
    std::optional<BaseKey> key;
    BaseStore::Found found;
    LedgerPage ledger;
    Reason keep_refusal = Reason::none;  // why the response may not become a base, as far as the request tells
    bool is_refetch = false;

    bool sent_if_block = false;
    IfBlock if_block;             // what was sent; its hashes are gone
    std::string accept_encoding;  // the reader's own
    bool has_accept_encoding = false;

    BorrowedField if_block_field{"If-Block"};
    BorrowedField accept_encoding_field{"Accept-Encoding"};
    BorrowedField cache_control_field{"Cache-Control"};
    std::optional<RequestSnapshot> snapshot;  // before all that is borrowed; set where `key` is

    DecodeFilter* filter = nullptr;
    Recovery recovery = Recovery::none;
};

// The state of a request, or null if the module has nothing to do with it.
RequestState* find_state(const request_rec* r);

// Makes one, in the place of what the request had before.
RequestState* make_state(request_rec* r);

}  // namespace crcsync::client
