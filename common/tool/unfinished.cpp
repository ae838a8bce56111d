#include "unfinished.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace crcsync::tool {

namespace {

constexpr int ending_signals[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM};

std::atomic<const char*> unfinished{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free, "a signal handler may look at it");

}  // namespace

// Only what a signal handler may do. The signal comes again when the handler returns, and has its usual effect then.
extern "C" {
static void end_by_signal(int number) {
    if (const char* path = unfinished.load()) unlink(path);
    raise(number);
}
}

void watch_for_signals() {
    for (const int number : ending_signals) {
        struct sigaction action {};
        if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
        action = {};
        action.sa_handler = end_by_signal;
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        sigaction(number, &action, nullptr);
    }
    signal(SIGXFSZ, SIG_IGN);
}

int make_unfinished(std::string& name) {
    // No signal may come between the file and the note of it.
    sigset_t all;
    sigset_t before;
    sigemptyset(&all);
    for (const int number : ending_signals) sigaddset(&all, number);
    sigprocmask(SIG_BLOCK, &all, &before);
    const int descriptor = mkstemp(name.data());
    if (descriptor >= 0) unfinished = name.c_str();
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return descriptor;
}

void forget_unfinished() {
    unfinished = nullptr;
}

}  // namespace crcsync::tool
