// The directives: what they set, how settings merge, and what httpd says to a wrong one.
#pragma once

#include <optional>

#include "apache.h"
#include "decision.h"

namespace crcsync::server {

// One CRCSyncServerSimilar.
struct Similar {
    const apr_array_header_t* types;  // of const char*
    const char* regex;
};

// What a section (server, virtual host, directory, location) says. An unset value is the outer section's; the
// outermost unset one is the default. Plain values and pool memory: httpd merges these for each request.
struct SectionConfig {
    std::optional<bool> on;
    std::optional<std::uint64_t> buffer_size;
    std::optional<std::uint64_t> compression_level;
    std::optional<std::uint64_t> min_size;
    std::optional<std::uint64_t> max_block_size;
    apr_array_header_t* types = nullptr;           // of const char*; null: unset
    apr_array_header_t* types_excluded = nullptr;  // likewise
    apr_array_header_t* similar = nullptr;         // of Similar; the inner section's come first

    bool is_on() const { return on.value_or(false); }
    std::size_t buffer() const { return buffer_size.value_or(64 * 1024); }
    int level() const { return static_cast<int>(compression_level.value_or(6)); }
    Policy policy() const;

    // The regular expression for responses of this type; null if there is none.
    const char* similar_for(std::string_view content_type) const;
};

// The section that holds for `r`, as far as httpd has found it yet: in post_read_request it is the server's.
const SectionConfig& config_of(const request_rec* r);

// Whether any section of this server switches the module on. The one check that an unused module costs.
bool is_used(const server_rec* server);

void* create_section_config(apr_pool_t* pool, char* path);
void* merge_section_config(apr_pool_t* pool, void* outer, void* inner);
void* create_server_config(apr_pool_t* pool, server_rec* server);
void* merge_server_config(apr_pool_t* pool, void* outer, void* inner);

extern const command_rec commands[];

}  // namespace crcsync::server
