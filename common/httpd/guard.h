// The one way across the C boundary. An exception that escapes into httpd's C code ends the whole child with all its
// connections, or, at a restart, httpd itself; so every hook, filter and cleanup runs its C++ through guard(), which
// catches, logs, and does what the caller gave as fallback: to let the plain response through.
#pragma once

#include <exception>
#include <utility>

#include "apache.h"
#include "loggable.h"

namespace crcsync {

// What log(what) is called with is the exception that is being handled.
template <class Log>
void describe_current_exception(Log&& log) noexcept {
    try {
        throw;
    } catch (const std::exception& e) {
        log(e.what());
    } catch (...) {
        log("unknown exception");
    }
}

// Logs the exception that is being handled, at error level. Common to both modules, so it names none: a fault is logged
// whatever LogLevel says for one of them.
inline void log_current_exception(const request_rec* r, const char* where) noexcept {
    describe_current_exception([&](const char* what) {
        ap_log_rerror_(__FILE__, __LINE__, APLOG_NO_MODULE, APLOG_ERR, 0, r, "crcsync: %s: fault in %s: %s",
                       loggable_url(r), where, what);
    });
}

// For hooks that run when httpd starts.
inline void log_current_exception(const server_rec* server, const char* where) noexcept {
    describe_current_exception([&](const char* what) {
        ap_log_error_(__FILE__, __LINE__, APLOG_NO_MODULE, APLOG_ERR, 0, server, "crcsync: fault in %s: %s", where,
                      what);
    });
}

// `context` is the request, or the server, that the log names. Runs body() and returns its result; if it throws, logs
// and returns fallback(). The fallback must not throw.
template <class Context, class Body, class Fallback>
auto guard(const Context* context, const char* where, Body&& body, Fallback&& fallback) noexcept
    -> decltype(std::forward<Body>(body)()) {
    try {
        return std::forward<Body>(body)();
    } catch (...) {
        log_current_exception(context, where);
        return std::forward<Fallback>(fallback)();
    }
}

}  // namespace crcsync
