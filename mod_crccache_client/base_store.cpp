#include "base_store.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "cache_api.h"
#include "cache_provider.h"
#include "write_turn.h"

namespace crcsync::client {

namespace {

// Fields of a shadow's response that carry our records.
constexpr const char* base_field = "Crcsync-Base";
constexpr const char* names_field = "Crcsync-Vary";

// An entity of one field has a body that says what it is, to whoever looks into the cache. It is padded, since
// CacheMinFileSize may keep the store from taking small entities; a block of the file system is used up anyway.
constexpr std::size_t field_body_size = 4096;

// How much is handed to the provider at a time. It keeps what it has read until the call ends.
constexpr std::uint64_t step = 1024 * 1024;

// A request that only a provider sees.
class Shadow {
public:
    explicit Shadow(request_rec* real) : r_(*real) {
        apr_pool_t* p = pool_.get();
        r_.pool = p;
        r_.main = r_.prev = r_.next = nullptr;
        r_.status = HTTP_OK;
        r_.status_line = nullptr;
        r_.header_only = 0;
        r_.no_cache = 0;
        r_.no_local_copy = 0;
        r_.content_type = "application/octet-stream";
        r_.content_encoding = nullptr;
        r_.content_languages = nullptr;
        for (auto* table : {&r_.headers_in, &r_.headers_out, &r_.err_headers_out, &r_.notes, &r_.subprocess_env}) {
            *table = apr_table_make(p, 2);
        }
    }

    request_rec* request() { return &r_; }
    cache_handle_t* handle() { return &handle_; }
    apr_pool_t* pool() const { return pool_.get(); }
    // The pool for something that outlives the shadow. Nothing may be done with the shadow after that.
    ScratchPool release_pool() { return std::move(pool_); }
    apr_bucket_brigade* brigade() { return apr_brigade_create(pool_.get(), r_.connection->bucket_alloc); }

    bool open(const cache_provider& provider, const std::string& key) {
        return provider.open_entity(&handle_, &r_, key.c_str()) == OK && handle_.cache_obj != nullptr;
    }

private:
    ScratchPool pool_;
    request_rec r_;
    cache_handle_t handle_{};
};

cache_info info_of_now(const request_rec* r) {
    cache_info info{};
    info.status = HTTP_OK;
    info.date = info.response_time = apr_time_now();
    info.request_time = r->request_time;
    // Bases do not go stale; a store that looks at the time keeps them for a year.
    info.expire = info.date + apr_time_from_sec(365 * 24 * 3600);
    info.control.parsed = 1;
    info.control.max_age_value = info.control.max_stale_value = -1;
    info.control.min_fresh_value = info.control.s_maxage_value = -1;
    return info;
}

// Hands [0, size) of a body to the provider. `append` puts the buckets for a part of it into a brigade.
template <class Append>
bool store_body(const cache_provider& provider, Shadow& shadow, std::uint64_t size, Append&& append) {
    apr_bucket_brigade* in = shadow.brigade();
    apr_bucket_brigade* out = shadow.brigade();
    for (std::uint64_t offset = 0; offset < size;) {
        const std::uint64_t part = std::min(step, size - offset);
        append(in, offset, part);
        offset += part;
        if (offset == size) APR_BRIGADE_INSERT_TAIL(in, apr_bucket_eos_create(in->bucket_alloc));
        while (!APR_BRIGADE_EMPTY(in)) {
            if (provider.store_body(shadow.handle(), shadow.request(), in, out) != APR_SUCCESS) return false;
            apr_brigade_cleanup(out);
        }
    }
    return true;
}

// Writes one entity: `field: value` and a body. Whoever calls has the turn for it.
template <class Append>
Reason write_entity(request_rec* r, const std::string& key, const char* field, const std::string& value,
                    std::uint64_t size, Append&& append) {
    const cache_provider* provider = base_provider();
    if (provider == nullptr || !base_provider_ready(r->server)) return Reason::store_error;
    if (!base_provider_has_room(r->server, size)) return Reason::store_error;
    {
        Shadow shadow(r);
        apr_table_setn(shadow.request()->headers_out, field, value.c_str());
        const int created = provider->create_entity(shadow.handle(), shadow.request(), key.c_str(),
                                                    static_cast<apr_off_t>(size), shadow.brigade());
        if (created != OK) return created == DECLINED ? Reason::store_limit : Reason::store_error;
        cache_info info = info_of_now(r);
        if (provider->store_headers(shadow.handle(), shadow.request(), &info) != APR_SUCCESS ||
            !store_body(*provider, shadow, size, std::forward<Append>(append)) ||
            !base_provider_has_room(r->server, 0) ||
            provider->commit_entity(shadow.handle(), shadow.request()) != APR_SUCCESS) {
            return Reason::store_error;
        }
    }
    // mod_cache_disk's commit_entity reports success even where it could not write or rename a file.
    Shadow shadow(r);
    if (!shadow.open(*provider, key)) return Reason::store_error;
    provider->remove_entity(shadow.handle());
    return Reason::none;
}

// The bytes that the provider gives, as a base; null if they are not as many as the record says.
std::unique_ptr<StoredBase> recall(const cache_provider& provider, Shadow& shadow, BaseRecord record) {
    apr_bucket_brigade* body = shadow.brigade();
    if (provider.recall_body(shadow.handle(), shadow.pool(), body) != APR_SUCCESS) return nullptr;
    apr_off_t length = 0;
    apr_brigade_length(body, 1, &length);
    if (static_cast<std::uint64_t>(length) != record.size) return nullptr;

    apr_bucket* first = APR_BRIGADE_FIRST(body);
    if (APR_BUCKET_IS_FILE(first) && first->start == 0) {
        // mod_cache_disk gives one file, in buckets of at most 1 GiB. It belongs to the shadow's pool.
        apr_file_t* file = static_cast<apr_bucket_file*>(first->data)->fd;
        apr_brigade_cleanup(body);
        return std::make_unique<StoredBase>(std::move(record), shadow.release_pool(), file);
    }
    std::vector<std::uint8_t> bytes(record.size);
    apr_size_t size = bytes.size();
    if (apr_brigade_flatten(body, reinterpret_cast<char*>(bytes.data()), &size) != APR_SUCCESS) return nullptr;
    return std::make_unique<StoredBase>(std::move(record), std::move(bytes));
}

enum class Seen { names, other };

// Looks at one entity: the list of names, or the base of `variant`.
Seen look_at(const cache_provider& provider, request_rec* r, const std::string& entity, const std::string& variant,
             BaseStore::Found& found) {
    Shadow shadow(r);
    if (!shadow.open(provider, entity)) return Seen::other;
    found.damaged = true;  // until the opposite is shown
    if (provider.recall_headers(shadow.handle(), shadow.request()) != APR_SUCCESS) return Seen::other;

    const apr_table_t* fields = shadow.handle()->resp_hdrs;
    const char* names = apr_table_get(fields, names_field);
    if (variant.empty() && names != nullptr) {
        found.names = parse_vary_names(names);
        found.damaged = found.names.empty();
        return found.damaged ? Seen::other : Seen::names;
    }
    const char* text = apr_table_get(fields, base_field);
    auto record = BaseRecord::parse(text != nullptr ? text : "");
    if (!record) return Seen::other;
    const bool ours = record->variant == variant;  // several variants share a place
    if (ours) found.base = recall(provider, shadow, std::move(*record));
    found.damaged = ours && !found.base;
    return Seen::other;
}

// mod_cache_disk finds no entity between the two renames that put a new one in place. On a busy page that is often: so
// where somebody writes, we look again. The wait is short beside a round trip on a slow link.
Seen look_when_written(const cache_provider& provider, request_rec* r, const std::string& entity,
                       const std::string& variant, BaseStore::Found& found) {
    constexpr int attempts = 5;
    constexpr apr_interval_time_t pause = 4000;  // microseconds
    bool writing = WriteTurn::is_running(entity);
    Seen seen = look_at(provider, r, entity, variant, found);
    for (int attempt = 0; attempt < attempts && seen == Seen::other && !found.base; ++attempt) {
        const bool still_writing = WriteTurn::is_running(entity);
        if (!writing && !still_writing) break;
        if (still_writing) apr_sleep(pause);
        writing = still_writing;
        found.damaged = false;
        seen = look_at(provider, r, entity, variant, found);
    }
    // The header of one entity with the body of another is what a writer leaves for a moment; he mends it himself.
    if (writing) found.damaged = false;
    return seen;
}

}  // namespace

BaseStore::Found BaseStore::find(const BaseKey& key) const {
    Found found;
    const cache_provider* provider = base_provider();
    if (provider == nullptr) return found;
    try {
        if (look_when_written(*provider, r_, key.url(), "", found) == Seen::names) {
            const std::string variant = key.variant(found.names);
            look_when_written(*provider, r_, key.place(variant), variant, found);
        }
    } catch (const std::bad_alloc&) {
        found.damaged = true;  // a length without sense (ScratchPool)
    }
    return found;
}

Reason BaseStore::keep(const BaseKey& key, const VaryNames& names, HeldInstance& instance, const Found& found) const {
    if (too_many_names(names)) return Reason::store_limit;
    const BaseRecord record = {instance.size(), instance.sha1(), key.variant(names)};
    if (found.base && found.names == names && found.base->record().variant == record.variant &&
        found.base->record().sha1 == record.sha1) {
        return Reason::none;
    }
    if (!names.empty() && found.names != names) {
        const WriteTurn turn(key.url());
        const Reason reason = turn.taken() ? write_field(key.url(), names_field, join_names(names)) : Reason::none;
        if (reason != Reason::none) return reason;
    }
    const std::string place = key.place(record.variant);
    const WriteTurn turn(place);
    if (!turn.taken()) return Reason::none;  // the other's instance is as new as ours
    return write_entity(r_, place, base_field, record.format(), record.size,
                        [&](apr_bucket_brigade* to, auto offset, auto n) { instance.view(to, offset, n); });
}

void BaseStore::drop(const BaseKey& key, const VaryNames& names) const {
    const cache_provider* provider = base_provider();
    if (provider == nullptr) return;
    try {
        Shadow shadow(r_);
        if (shadow.open(*provider, key.place(key.variant(names)))) {
            provider->remove_url(shadow.handle(), shadow.request());
        }
    } catch (const std::bad_alloc&) {
        // What can't be opened can't be removed; the next base takes its place.
    }
}

std::string BaseStore::read_field(const std::string& entity, const char* field) const {
    const cache_provider* provider = base_provider();
    if (provider == nullptr || !base_provider_ready(r_->server)) return {};
    try {
        Shadow shadow(r_);
        if (!shadow.open(*provider, entity)) return {};
        if (provider->recall_headers(shadow.handle(), shadow.request()) != APR_SUCCESS) return {};
        const char* value = apr_table_get(shadow.handle()->resp_hdrs, field);
        return value != nullptr ? value : "";
    } catch (const std::bad_alloc&) {
        return {};  // a damaged file (ScratchPool)
    }
}

Reason BaseStore::write_field(const std::string& entity, const char* field, const std::string& value) const {
    std::string body = std::string(field) + ": " + value + "\n";
    if (body.size() < field_body_size) body.append(field_body_size - body.size(), '\n');
    return write_entity(r_, entity, field, value, body.size(), [&](apr_bucket_brigade* to, auto offset, auto n) {
        APR_BRIGADE_INSERT_TAIL(to, apr_bucket_immortal_create(body.data() + offset, n, to->bucket_alloc));
    });
}

}  // namespace crcsync::client
