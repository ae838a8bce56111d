// Bases on disk, through httpd's own cache provider `disk`, under keys of our own: no CacheEnable is needed, and
// htcacheclean looks after the files.
//
// A provider is made for mod_cache and wants a request. It gets a shadow: a copy of the real one with header tables of
// its own, which say what is to be kept beside the bytes.
#pragma once

#include <memory>
#include <string>

#include "apache.h"
#include "base_key.h"
#include "held_instance.h"
#include "reason.h"
#include "stored_base.h"

namespace crcsync::client {

class BaseStore {
public:
    explicit BaseStore(request_rec* r) : r_(r) {}

    // What the store has for a request.
    struct Found {
        std::unique_ptr<StoredBase> base;  // null: none
        VaryNames names;                   // on which this URL varied when it was last kept
        bool damaged = false;              // there was something, but no base could be made of it
    };
    Found find(const BaseKey& key) const;

    // Keeps `instance` as the base of `key`, whose response varies on `names`. `found` is what find() gave before:
    // what it shows to be there already is not written again. Reason::none, store_limit or store_error.
    Reason keep(const BaseKey& key, const VaryNames& names, HeldInstance& instance, const Found& found) const;

    // Removes the base of `key`.
    void drop(const BaseKey& key, const VaryNames& names) const;

    // A small entity under a key of its own that holds one field. read_field() gives "" where there is none;
    // write_field() Reason::none, store_limit or store_error. Who writes has the WriteTurn of `entity`.
    std::string read_field(const std::string& entity, const char* field) const;
    Reason write_field(const std::string& entity, const char* field, const std::string& value) const;

private:
    request_rec* r_;
};

}  // namespace crcsync::client
