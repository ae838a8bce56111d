#include "config.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

#include "log_module.h"
#include "number.h"

namespace crcsync::server {

namespace {

constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t mebi = 1024 * kibi;
constexpr std::uint64_t gibi = 1024 * mebi;

struct ServerConfig {
    bool used;  // `CRCSyncServer On` stands somewhere
};

// Configs have no destructor to run, so the pool just drops them.
template <class T>
T* make_plain(apr_pool_t* pool) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 8);
    return new (apr_palloc(pool, sizeof(T))) T{};
}

// A directive that sets one number: which, and between what bounds.
struct NumberDirective {
    std::optional<std::uint64_t> SectionConfig::*member;
    std::uint64_t least;
    std::uint64_t most;
    bool units;           // whether K, M and G may follow
    const char* expects;  // for the error message
};

constexpr NumberDirective buffer_size = {&SectionConfig::buffer_size, kibi, 16 * mebi, true,
                                         "a number of bytes from 1K to 16M"};
constexpr NumberDirective compression_level = {&SectionConfig::compression_level, 0, 9, false,
                                               "a number from 1 (fast) to 9 (small), or 0 (no compression)"};
constexpr NumberDirective min_size = {&SectionConfig::min_size, 0, gibi, true, "a number of bytes from 0 to 1G"};
constexpr NumberDirective max_block_size = {&SectionConfig::max_block_size, 64, gibi, true,
                                            "a number of bytes from 64 to 1G"};

const char* check_place(cmd_parms* cmd) {
    return ap_check_cmd_context(cmd, NOT_IN_LIMIT);
}

const char* set_on(cmd_parms* cmd, void* config, int on) {
    if (const char* error = check_place(cmd)) return error;
    static_cast<SectionConfig*>(config)->on = on != 0;
    if (on != 0) {
        static_cast<ServerConfig*>(ap_get_module_config(cmd->server->module_config, &crccache_server_module))->used =
            true;
    }
    return nullptr;
}

const char* set_number(cmd_parms* cmd, void* config, const char* text) {
    if (const char* error = check_place(cmd)) return error;
    const auto& directive = *static_cast<const NumberDirective*>(cmd->cmd->cmd_data);
    const auto number = parse_number(text, directive.units);
    if (!number || *number < directive.least || *number > directive.most) {
        return apr_psprintf(cmd->pool, "%s expects %s, not '%s'", cmd->cmd->name, directive.expects, text);
    }
    static_cast<SectionConfig*>(config)->*directive.member = *number;
    return nullptr;
}

// Adds a type or mask in lower case; "all" is "*/*". Returns an error message, or null.
const char* add_type(cmd_parms* cmd, apr_array_header_t* types, const char* text) {
    char* mask = apr_pstrdup(cmd->pool, text);
    ap_str_tolower(mask);
    if (std::strcmp(mask, "all") == 0) mask = apr_pstrdup(cmd->pool, "*/*");
    if (!is_type_mask(mask)) {
        return apr_psprintf(cmd->pool,
                            "%s expects content types such as text/html, masks such as image/*, or all; not '%s'",
                            cmd->cmd->name, text);
    }
    APR_ARRAY_PUSH(types, const char*) = mask;
    return nullptr;
}

const char* add_to_types(cmd_parms* cmd, apr_array_header_t*& types, const char* text) {
    if (const char* error = check_place(cmd)) return error;
    if (types == nullptr) types = apr_array_make(cmd->pool, 4, sizeof(const char*));
    return add_type(cmd, types, text);
}

const char* add_included(cmd_parms* cmd, void* config, const char* text) {
    return add_to_types(cmd, static_cast<SectionConfig*>(config)->types, text);
}

const char* add_excluded(cmd_parms* cmd, void* config, const char* text) {
    return add_to_types(cmd, static_cast<SectionConfig*>(config)->types_excluded, text);
}

const char* add_similar(cmd_parms* cmd, void* config, const char* types, const char* regex) {
    if (const char* error = check_place(cmd)) return error;
    auto* list = apr_array_make(cmd->pool, 4, sizeof(const char*));
    char* state = nullptr;
    char* text = apr_pstrdup(cmd->pool, types);
    for (const char* type = apr_strtok(text, " ,\t", &state); type != nullptr;
         type = apr_strtok(nullptr, " ,\t", &state)) {
        if (const char* error = add_type(cmd, list, type)) return error;
    }
    if (list->nelts == 0) return apr_pstrcat(cmd->pool, cmd->cmd->name, " expects at least one content type", nullptr);
    // It becomes a field value: visible ASCII, and blanks only within.
    const std::string_view value(regex);
    const bool sendable = !value.empty() && value.front() != ' ' && value.back() != ' ' &&
                          std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (!sendable) {
        return apr_psprintf(cmd->pool, "%s expects a regular expression in visible ASCII, not '%s'", cmd->cmd->name,
                            regex);
    }
    if (ap_pregcomp(cmd->temp_pool, regex, AP_REG_EXTENDED) == nullptr) {
        return apr_psprintf(cmd->pool, "%s: '%s' is no valid regular expression", cmd->cmd->name, regex);
    }
    auto*& rules = static_cast<SectionConfig*>(config)->similar;
    if (rules == nullptr) rules = apr_array_make(cmd->pool, 2, sizeof(Similar));
    APR_ARRAY_PUSH(rules, Similar) = {list, apr_pstrdup(cmd->pool, regex)};
    return nullptr;
}

TypeMasks masks(const apr_array_header_t* list) {
    if (list == nullptr) return {};
    return {reinterpret_cast<const char* const*>(list->elts), static_cast<std::size_t>(list->nelts)};
}

constexpr const char* all_types[] = {"*/*"};

void* data_of(const NumberDirective& directive) {
    return const_cast<NumberDirective*>(&directive);
}

constexpr int anywhere = RSRC_CONF | ACCESS_CONF;

}  // namespace

const command_rec commands[] = {
    AP_INIT_FLAG("CRCSyncServer", set_on, nullptr, anywhere, "On: responses may be sent as deltas"),
    AP_INIT_TAKE1("CRCSyncServerBufferSize", set_number, data_of(buffer_size), anywhere,
                  "bytes that are read and coded at a time; default 64K"),
    AP_INIT_TAKE1("CRCSyncServerCompressionLevel", set_number, data_of(compression_level), anywhere,
                  "zlib's level for what the base does not have, 1 to 9, or 0 for none; default 6"),
    AP_INIT_TAKE1("CRCSyncServerMinSize", set_number, data_of(min_size), anywhere,
                  "responses of fewer bytes are sent in full; default 128"),
    AP_INIT_TAKE1("CRCSyncServerMaxBlockSize", set_number, data_of(max_block_size), anywhere,
                  "requests that ask for larger blocks are answered in full; default 1M"),
    AP_INIT_ITERATE("CRCSyncServerTypes", add_included, nullptr, anywhere,
                    "content types that may be sent as deltas, masks such as text/*, or all; default all"),
    AP_INIT_ITERATE("CRCSyncServerTypesExclude", add_excluded, nullptr, anywhere,
                    "content types that are sent in full"),
    AP_INIT_TAKE2("CRCSyncServerSimilar", add_similar, nullptr, anywhere,
                  "content types, and a regular expression for the paths whose pages make a good base for them"),
    {}};

Policy SectionConfig::policy() const {
    return {.min_size = min_size.value_or(128),
            .max_block = max_block_size.value_or(mebi),
            .types = types != nullptr ? masks(types) : TypeMasks(all_types),
            .types_excluded = masks(types_excluded)};
}

const char* SectionConfig::similar_for(std::string_view content_type) const {
    for (int i = 0; similar != nullptr && i < similar->nelts; ++i) {
        const auto& rule = APR_ARRAY_IDX(similar, i, Similar);
        if (type_matches(masks(rule.types), content_type)) return rule.regex;
    }
    return nullptr;
}

const SectionConfig& config_of(const request_rec* r) {
    return *static_cast<const SectionConfig*>(ap_get_module_config(r->per_dir_config, &crccache_server_module));
}

bool is_used(const server_rec* server) {
    return static_cast<const ServerConfig*>(ap_get_module_config(server->module_config, &crccache_server_module))->used;
}

void* create_section_config(apr_pool_t* pool, char* /*path*/) {
    return make_plain<SectionConfig>(pool);
}

void* merge_section_config(apr_pool_t* pool, void* outer, void* inner) {
    const auto& a = *static_cast<const SectionConfig*>(outer);
    const auto& b = *static_cast<const SectionConfig*>(inner);
    auto* merged = make_plain<SectionConfig>(pool);
    *merged = a;
    if (b.on) merged->on = b.on;
    if (b.buffer_size) merged->buffer_size = b.buffer_size;
    if (b.compression_level) merged->compression_level = b.compression_level;
    if (b.min_size) merged->min_size = b.min_size;
    if (b.max_block_size) merged->max_block_size = b.max_block_size;
    if (b.types != nullptr) merged->types = b.types;
    if (b.types_excluded != nullptr) merged->types_excluded = b.types_excluded;
    if (a.similar != nullptr && b.similar != nullptr) {
        merged->similar = apr_array_append(pool, b.similar, a.similar);
    } else if (b.similar != nullptr) {
        merged->similar = b.similar;
    }
    return merged;
}

void* create_server_config(apr_pool_t* pool, server_rec* /*server*/) {
    return make_plain<ServerConfig>(pool);
}

void* merge_server_config(apr_pool_t* pool, void* outer, void* inner) {
    auto* merged = make_plain<ServerConfig>(pool);
    merged->used = static_cast<const ServerConfig*>(outer)->used || static_cast<const ServerConfig*>(inner)->used;
    return merged;
}

}  // namespace crcsync::server
