#include "config.h"

#include <cstring>
#include <new>

#include "block_layout.h"
#include "client_module.h"
#include "number.h"

namespace crcsync::client {

namespace {

bool any_enabled = false;  // written while one thread reads the configuration

constexpr std::uint64_t gib = 1ULL << 30;

// A directive that sets a number of bytes: which, and between what bounds.
struct SizeDirective {
    Setting<std::uint64_t> Config::*member;
    std::uint64_t least;
    std::uint64_t most;
    const char* bounds;  // for the error message
};

// A field line is no use with less than one hash in it; httpd takes up to 8,190 bytes of a line.
constexpr SizeDirective max_header = {&Config::max_header, 64, 8000, "64 to 8000"};
constexpr SizeDirective min_base = {&Config::min_base, 1, gib, "1 to 1G"};
constexpr SizeDirective max_base = {&Config::max_base, 1, 1024 * gib, "1 to 1024G"};
constexpr SizeDirective max_instance = {&Config::max_instance, 1, 1024 * gib, "1 to 1024G"};
constexpr SizeDirective hold_memory = {&Config::hold_memory, 0, gib, "0 to 1G"};

const char* check_place(cmd_parms* cmd) {
    return ap_check_cmd_context(cmd, NOT_IN_LIMIT);
}

const char* set_enabled(cmd_parms* cmd, void* config, int on) {
    if (const char* error = check_place(cmd)) return error;
    static_cast<Config*>(config)->enabled.set(on != 0);
    if (on != 0) any_enabled = true;
    return nullptr;
}

const char* set_store(cmd_parms* cmd, void*, const char* name) {
    if (std::strcmp(name, "disk") == 0) return nullptr;
    return apr_psprintf(cmd->pool, "%s expects disk, not '%s'", cmd->cmd->name, name);
}

const char* set_blocks(cmd_parms* cmd, void* config, const char* text) {
    if (const char* error = check_place(cmd)) return error;
    const auto blocks = ap_cstr_casecmp(text, "auto") == 0 ? 0 : parse_number(text, false).value_or(max_blocks + 1);
    if (blocks > max_blocks || (blocks == 0 && *text == '0')) {
        return apr_psprintf(cmd->pool, "%s expects auto or a number from 1 to %u, not '%s'", cmd->cmd->name, max_blocks,
                            text);
    }
    static_cast<Config*>(config)->blocks.set(static_cast<std::uint32_t>(blocks));
    return nullptr;
}

const char* set_size(cmd_parms* cmd, void* config, const char* text) {
    if (const char* error = check_place(cmd)) return error;
    const auto& directive = *static_cast<const SizeDirective*>(cmd->cmd->cmd_data);
    const auto size = parse_number(text, true);
    if (!size || *size < directive.least || *size > directive.most) {
        return apr_psprintf(cmd->pool, "%s expects a number of bytes from %s, not '%s'", cmd->cmd->name,
                            directive.bounds, text);
    }
    (static_cast<Config*>(config)->*directive.member).set(*size);
    return nullptr;
}

// httpd's command_rec holds C function types: it casts as its own macros do for C.
command_rec directive(const char* name, cmd_func function, const void* info, int where, cmd_how how, const char* help) {
    return {name, function, const_cast<void*>(info), where, how, help};
}

command_rec flag(const char* name, const char* (*function)(cmd_parms*, void*, int), const char* help) {
    cmd_func f;
    f.flag = function;
    return directive(name, f, nullptr, RSRC_CONF | ACCESS_CONF, FLAG, help);
}

command_rec take1(const char* name, const char* (*function)(cmd_parms*, void*, const char*), const char* help,
                  const void* info = nullptr, int where = RSRC_CONF | ACCESS_CONF) {
    cmd_func f;
    f.take1 = function;
    return directive(name, f, info, where, TAKE1, help);
}

}  // namespace

const command_rec directives[] = {
    flag("CRCSyncClient", set_enabled, "On: ask for deltas, decode them, keep bases"),
    take1("CRCSyncClientStore", set_store, "Where bases are kept: disk", nullptr, RSRC_CONF),
    take1("CRCSyncClientBlocks", set_blocks, "Number of blocks of a base: auto, or 1 to 256"),
    take1("CRCSyncClientMaxHeader", set_size, "Bytes that the If-Block field line may take", &max_header),
    take1("CRCSyncClientMinBase", set_size, "Smallest response that is kept as a base", &min_base),
    take1("CRCSyncClientMaxBase", set_size, "Largest response that is kept as a base", &max_base),
    take1("CRCSyncClientMaxInstance", set_size, "Largest response that a delta may expand to", &max_instance),
    take1("CRCSyncClientHoldMemory", set_size, "Bytes of a response held in memory before a temporary file takes it",
          &hold_memory),
    {nullptr, {nullptr}, nullptr, 0, RAW_ARGS, nullptr},
};

bool enabled_anywhere() {
    return any_enabled;
}

void forget_enabled() {
    any_enabled = false;
}

const Config& config_of(const request_rec* r) {
    return *static_cast<Config*>(ap_get_module_config(r->per_dir_config, &crccache_client_module));
}

const Config& config_of(const server_rec* server) {
    return *static_cast<Config*>(ap_get_module_config(server->lookup_defaults, &crccache_client_module));
}

void* create_config(apr_pool_t* pool, char*) {
    return new (apr_palloc(pool, sizeof(Config))) Config;
}

void* merge_config(apr_pool_t* pool, void* base_config, void* add_config) {
    const auto& base = *static_cast<Config*>(base_config);
    const auto& add = *static_cast<Config*>(add_config);
    auto* merged = new (apr_palloc(pool, sizeof(Config))) Config;
    merged->enabled = add.enabled.over(base.enabled);
    merged->blocks = add.blocks.over(base.blocks);
    for (auto member :
         {&Config::max_header, &Config::min_base, &Config::max_base, &Config::max_instance, &Config::hold_memory}) {
        merged->*member = (add.*member).over(base.*member);
    }
    return merged;
}

}  // namespace crcsync::client
