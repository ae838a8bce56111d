#include "filter_order.h"

#include <util_cfgtree.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <string_view>

#include "fields.h"

namespace crcsync {

namespace {

bool is(const ap_directive_t* directive, const char* name) {
    return ap_cstr_casecmp(directive->directive, name) == 0;
}

// The arguments one by one, quotes undone.
class Arguments {
public:
    Arguments(const ap_directive_t* directive, apr_pool_t* pool) : rest_(directive->args), pool_(pool) {}
    std::string next() { return rest_ != nullptr ? ap_getword_conf(pool_, &rest_) : ""; }

private:
    const char* rest_;
    apr_pool_t* pool_;
};

class Look {
public:
    Look(const OwnFilter& own, int module_index, server_rec* server, apr_pool_t* pool)
        : own_(own), module_index_(module_index), server_(server), pool_(pool) {}

    void all(const ap_directive_t* first) {
        for (const auto* directive = first; directive != nullptr; directive = directive->next) {
            one(directive);
            all(directive->first_child);
        }
    }

private:
    void one(const ap_directive_t* directive) {
        Arguments arguments(directive, pool_);
        if (is(directive, "SetOutputFilter") || is(directive, "AddOutputFilter") ||
            is(directive, "AddOutputFilterByType")) {
            filters(directive, arguments.next());
        } else if (is(directive, "FilterProvider")) {
            const std::string declared = arguments.next();
            if (own_.encodes && is_declared_late(ap_conftree, declared)) meets_deltas(directive, arguments.next());
        } else if (is(directive, "RequestHeader") && own_.encodes) {
            const std::string action = fields::lower_case(arguments.next());
            const std::string field = arguments.next();
            const bool sets = action == "set" || action == "append" || action == "add" || action == "merge";
            if (sets && ap_cstr_casecmp(field.c_str(), "Accept-Encoding") == 0) codings(directive, arguments.next());
        }
    }

    // "INCLUDES;DEFLATE"
    void filters(const ap_directive_t* directive, const std::string& list) {
        for (std::size_t start = 0; start <= list.size();) {
            const std::size_t end = std::min(list.find(';', start), list.size());
            const std::string name = list.substr(start, end - start);
            start = end + 1;
            if (ap_cstr_casecmp(name.c_str(), own_.name) == 0) {
                warn(directive, "%s has no effect: %s On adds the filter", own_.name, own_.directive);
                continue;
            }
            const auto* record = ap_get_output_filter_handle(fields::lower_case(name).c_str());
            if (record == nullptr) continue;
            // Of the same type, those that are added earlier come first: ours are added late.
            if (own_.encodes ? record->ftype > own_.type : record->ftype <= own_.type) meets_deltas(directive, name);
        }
    }

    void meets_deltas(const ap_directive_t* directive, const std::string& name) {
        // It delays bytes, and changes none.
        if (fields::lower_case(name) == "rate_limit") return;
        warn(directive, "the filter %s is put %s %s, where it meets deltas: those that it changes are of no use",
             name.c_str(), own_.encodes ? "behind" : "before", own_.name);
    }

    void codings(const ap_directive_t* directive, const std::string& value) {
        for (const auto member : fields::split_list(value)) {
            const auto coding = member.substr(0, member.find_first_of("; \t"));
            if (fields::is_known_coding(coding)) continue;
            warn(directive, "%s cannot undo the coding %s that is asked for here: responses so coded are sent in full",
                 own_.name, std::string(coding).c_str());
            return;
        }
    }

    // Whether mod_filter is told to put `filter` behind the filters of content.
    bool is_declared_late(const ap_directive_t* first, const std::string& filter) const {
        constexpr std::array late = {"PROTOCOL", "TRANSCODE", "CONNECTION", "NETWORK"};
        for (const auto* directive = first; directive != nullptr; directive = directive->next) {
            if (is_declared_late(directive->first_child, filter)) return true;
            if (!is(directive, "FilterDeclare")) continue;
            Arguments arguments(directive, pool_);
            if (arguments.next() != filter) continue;
            const std::string type = arguments.next();
            return std::any_of(late.begin(), late.end(),
                               [&](const char* name) { return ap_cstr_casecmp(name, type.c_str()) == 0; });
        }
        return false;
    }

    template <class... Values>
    void warn(const ap_directive_t* directive, const char* format, Values... values) {
        if (!may_be_on(directive)) return;
        const char* text = apr_psprintf(pool_, format, values...);
        ap_log_error_(__FILE__, __LINE__, module_index_, APLOG_WARNING, 0, server_, "crcsync: %s, line %d: %s: %s",
                      directive->filename, directive->line_num, directive->directive, text);
    }

    // On or Off, where `first` and what follows it says so; the last one counts.
    const ap_directive_t* switch_among(const ap_directive_t* first) const {
        const ap_directive_t* found = nullptr;
        for (const auto* directive = first; directive != nullptr; directive = directive->next) {
            if (is(directive, own_.directive)) found = directive;
        }
        return found;
    }

    static bool says_on(const ap_directive_t* directive) {
        return directive->args != nullptr && ap_cstr_casecmp(directive->args, "On") == 0;
    }

    static bool is_host(const ap_directive_t* section) { return is(section, "<VirtualHost"); }

    // Whether our module may be on where `directive` has an effect: what the innermost section says that says anything;
    // for a server, or where none does, whether it is on in any section within reach.
    bool may_be_on(const ap_directive_t* directive) const {
        const ap_directive_t* host = nullptr;
        bool host_is_off = false;
        for (const auto* section = directive->parent; section != nullptr; section = section->parent) {
            if (is_host(section)) host = section;
            const auto* found = switch_among(section->first_child);
            if (found == nullptr) continue;
            if (says_on(found) || !is_host(section)) return says_on(found);
            host_is_off = true;
        }
        const auto* main_switch = switch_among(ap_conftree);
        if (main_switch != nullptr && says_on(main_switch) && !host_is_off) return true;
        return is_on_in_sections(ap_conftree, host);
    }

    // `host`: other virtual hosts are out of reach.
    bool is_on_in_sections(const ap_directive_t* first, const ap_directive_t* host) const {
        for (const auto* section = first; section != nullptr; section = section->next) {
            if (host != nullptr && is_host(section) && section != host) continue;
            const auto* found = switch_among(section->first_child);
            if (found != nullptr && says_on(found)) return true;
            if (is_on_in_sections(section->first_child, host)) return true;
        }
        return false;
    }

    const OwnFilter& own_;
    int module_index_;
    server_rec* server_;
    apr_pool_t* pool_;
};

}  // namespace

void warn_about_filters(const OwnFilter& own, int module_index, server_rec* server) noexcept {
    apr_pool_t* pool = nullptr;
    if (apr_pool_create(&pool, nullptr) != APR_SUCCESS) return;
    try {
        Look(own, module_index, server, pool).all(ap_conftree);
    } catch (const std::exception& e) {
        ap_log_error_(__FILE__, __LINE__, module_index, APLOG_ERR, 0, server,
                      "crcsync: the configuration of other filters was not looked at: %s", e.what());
    }
    apr_pool_destroy(pool);
}

}  // namespace crcsync
