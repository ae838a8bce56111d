#include "counters.h"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "section.h"

namespace crcsync {

namespace {

// A new layout of the list needs a new key: an old module may still look for the old one.
constexpr const char* sections_key = "crcsync:sections:1";

// "not-modified" becomes "NotModified".
std::string camel_case(std::string_view code) {
    std::string result;
    bool upper = true;
    for (const char c : code) {
        if (c == '-') {
            upper = true;
        } else {
            result += upper ? static_cast<char>(apr_toupper(c)) : c;
            upper = false;
        }
    }
    return result;
}

// Names in the order of the members of Counters; an empty one is not shown.
std::vector<std::string> slot_names() {
    std::vector<std::string> names = {"Requests"};
    for (std::size_t i = 0; i < result_count; ++i) names.push_back(camel_case(name(static_cast<Result>(i))));
    for (std::size_t i = 0; i < reason_count; ++i) {
        const auto reason = static_cast<Reason>(i);
        names.push_back(reason == Reason::none ? "" : "Reason" + camel_case(name(reason)));
    }
    for (const char* last : {"InstanceBytes", "WireBytes", "RequestBytes", "LiteralBytes", "Faults"}) {
        names.emplace_back(last);
    }
    return names;
}

constexpr std::size_t slot_count = sizeof(Counters) / sizeof(std::uint64_t);
static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));
static_assert(slot_count == 1 + result_count + reason_count + 5, "slot_names() follows the members");

bool has_names(const crcsync_section& section, const std::vector<std::string>& names) {
    if (section.count != names.size()) return false;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] != (section.names[i] != nullptr ? section.names[i] : "")) return false;
    }
    return true;
}

crcsync_section* find_section(crcsync_sections& sections, const char* prefix) {
    auto* section = sections.first;
    while (section != nullptr && std::strcmp(section->prefix, prefix) != 0) section = section->next;
    return section;
}

void add(std::atomic<std::uint64_t>& counter, std::uint64_t number) {
    counter.fetch_add(number, std::memory_order_relaxed);
}

}  // namespace

crcsync_sections* find_sections(process_rec* process, bool make) {
    void* found = nullptr;
    apr_pool_userdata_get(&found, sections_key, process->pool);
    if (found == nullptr && make) {
        found = apr_pcalloc(process->pool, sizeof(crcsync_sections));
        // The key is copied: our own constant is gone when the module is unloaded.
        apr_pool_userdata_set(found, sections_key, apr_pool_cleanup_null, process->pool);
    }
    return static_cast<crcsync_sections*>(found);
}

Counters* open_counters(const char* prefix, server_rec* server) {
    apr_pool_t* pool = server->process->pool;
    auto& sections = *find_sections(server->process, true);
    const auto names = slot_names();
    auto* section = find_section(sections, prefix);
    // Other names: the module was replaced by another version between two restarts. It starts from zero.
    if (section == nullptr || !has_names(*section, names)) {
        apr_shm_t* memory = nullptr;
        const auto status = apr_shm_create(&memory, sizeof(Counters), nullptr, pool);
        if (status != APR_SUCCESS) {
            ap_log_error(__FILE__, __LINE__, APLOG_NO_MODULE, APLOG_ERR, status, server,
                         "crcsync: no shared memory for the counters of %s: they are off", prefix);
            return nullptr;
        }
        std::memset(apr_shm_baseaddr_get(memory), 0, sizeof(Counters));
        auto** copies = static_cast<const char**>(apr_pcalloc(pool, slot_count * sizeof(const char*)));
        for (std::size_t i = 0; i < slot_count; ++i) {
            if (!names[i].empty()) copies[i] = apr_pstrdup(pool, names[i].c_str());
        }
        if (section == nullptr) {
            section = static_cast<crcsync_section*>(apr_pcalloc(pool, sizeof(crcsync_section)));
            section->prefix = apr_pstrdup(pool, prefix);
            section->next = sections.first;
            sections.first = section;
        }
        section->count = slot_count;
        section->names = copies;
        section->values = static_cast<std::uint64_t*>(apr_shm_baseaddr_get(memory));
    }
    return reinterpret_cast<Counters*>(section->values);
}

void Counters::add(const Outcome& outcome) {
    crcsync::add(requests, 1);
    crcsync::add(results[static_cast<std::size_t>(outcome.result)], 1);
    crcsync::add(reasons[static_cast<std::size_t>(outcome.reason)], 1);
    crcsync::add(instance_bytes, outcome.instance_bytes.value_or(0));
    crcsync::add(wire_bytes, outcome.wire_bytes.value_or(0));
    crcsync::add(request_bytes, outcome.request_bytes.value_or(0));
    crcsync::add(literal_bytes, outcome.literal_bytes.value_or(0));
    if (outcome.reason == Reason::fault) crcsync::add(faults, 1);
}

}  // namespace crcsync
