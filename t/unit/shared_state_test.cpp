// What the threads of all children share: counters, ledger, turns to write. Many threads use them at once; under
// ThreadSanitizer (build/test.sh) each access that is not ordered is a failure.
//
// The code is the modules' own. Of httpd it needs memory that APR gives, and the log, which is here instead.

#include <atomic>
#include <cstdarg>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "apache.h"
#include "client_module.h"
#include "counters.h"
#include "ledger.h"
#include "suite.h"
#include "write_turn.h"

using namespace crcsync;
using namespace crcsync::client;

// What httpd itself would provide.
extern "C" {
module crccache_client_module;
void ap_log_error_(const char*, int, int, int, apr_status_t, const server_rec*, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
}
void ap_log_rerror_(const char*, int, int, int, apr_status_t, const request_rec*, const char*, ...) {}
}

namespace {

constexpr unsigned thread_count = 8;

// A server with memory, as post_config has it.
struct Server {
    process_rec process{};
    server_rec server{};
    Server() {
        apr_initialize();
        apr_pool_create(&process.pool, nullptr);
        server.process = &process;
    }
    ~Server() { apr_terminate(); }
};

// Runs `work` in all threads at once, each with its number.
void in_threads(const std::function<void(unsigned)>& work) {
    std::atomic<unsigned> ready{0};
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < thread_count; ++number) {
        threads.emplace_back([&, number] {
            ++ready;
            while (ready < thread_count) std::this_thread::yield();
            work(number);
        });
    }
    for (auto& thread : threads) thread.join();
}

START_TEST(counters_lose_nothing) {
    constexpr unsigned rounds = 50000;
    Server server;
    Counters* counters = open_counters("Test", &server.server);
    ck_assert_ptr_nonnull(counters);
    ck_assert_ptr_eq(open_counters("Test", &server.server), counters);
    in_threads([&](unsigned number) {
        for (unsigned i = 0; i < rounds; ++i) {
            Outcome outcome;
            outcome.result = number % 2 == 0 ? Result::delta : Result::full;
            outcome.reason = number % 2 == 0 ? Reason::none : Reason::fault;
            outcome.instance_bytes = 100;
            outcome.wire_bytes = number;
            counters->add(outcome);
        }
    });
    constexpr std::uint64_t all = std::uint64_t{thread_count} * rounds;
    ck_assert_uint_eq(counters->requests, all);
    ck_assert_uint_eq(counters->results[static_cast<std::size_t>(Result::delta)], all / 2);
    ck_assert_uint_eq(counters->results[static_cast<std::size_t>(Result::full)], all / 2);
    ck_assert_uint_eq(counters->faults, all / 2);
    ck_assert_uint_eq(counters->instance_bytes, 100 * all);
    ck_assert_uint_eq(counters->wire_bytes, rounds * thread_count * (thread_count - 1) / 2);
    ck_assert_uint_eq(counters->request_bytes, 0);
}
END_TEST

START_TEST(one_writer_at_a_time) {
    constexpr unsigned rounds = 20000;
    Server server;
    open_write_turns(&server.server);
    const std::string keys[] = {"one", "two", "three"};
    unsigned writes[3] = {};  // of each key: plain numbers, which only the one who has the turn may touch
    std::atomic<unsigned> inside[3] = {};
    std::atomic<unsigned> total{0};
    std::atomic<bool> together{false};
    in_threads([&](unsigned number) {
        for (unsigned i = 0; i < rounds; ++i) {
            const std::size_t key = (number + i) % 3;
            WriteTurn::is_running(keys[key]);
            const WriteTurn turn(keys[key]);
            if (!turn.taken()) continue;
            if (inside[key].fetch_add(1, std::memory_order_relaxed) != 0) together = true;
            ++writes[key];
            total.fetch_add(1, std::memory_order_relaxed);
            inside[key].fetch_sub(1, std::memory_order_relaxed);
        }
    });
    ck_assert(!together);
    ck_assert_uint_eq(writes[0] + writes[1] + writes[2], total);
    ck_assert_uint_gt(total, 0);
    for (const auto& key : keys) ck_assert(!WriteTurn::is_running(key));
    const WriteTurn turn(keys[0]);
    ck_assert(turn.taken() && WriteTurn::is_running(keys[0]) && !WriteTurn(keys[0]).taken());
}
END_TEST

START_TEST(the_ledger_takes_any_order_of_lessons) {
    constexpr unsigned rounds = 5000;
    Server server;
    open_ledger(&server.server);
    std::atomic<bool> wrong{false};
    in_threads([&](unsigned number) {
        std::minstd_rand random(number + 1);
        for (unsigned i = 0; i < rounds; ++i) {
            // More URLs than one set of the table has entries: they push each other out meanwhile.
            LedgerPage page = ledger_page(1 + 4096ULL * (random() % 12));
            switch (random() % 8) {
                case 0: page.plain(random() % 5000, 10000); break;
                case 1: page.refused(); break;
                case 2: page.delta(400, random() % 20000, 10000, 5000, 2000); break;
                case 3: page.mismatch(Reason::hash_mismatch); break;
                case 4: page.stop(Reason::peer_without_crcsync); break;
                case 5: {
                    const Reason reason = page.stopped();
                    if (reason != Reason::none && reason != Reason::hash_mismatch &&
                        reason != Reason::peer_without_crcsync) {
                        wrong = true;
                    }
                    break;
                }
                default:
                    if (page.next_blocks(40) > 40) wrong = true;
            }
        }
    });
    ck_assert(!wrong);
    LedgerPage page = ledger_page(7);
    ck_assert(page.stopped() == Reason::none && page.next_blocks(40) == 40);
    page.mismatch(Reason::hash_mismatch);
    ck_assert(ledger_page(7).stopped() == Reason::none);
    page.mismatch(Reason::hash_mismatch);
    ck_assert(ledger_page(7).stopped() == Reason::hash_mismatch);
    ck_assert(ledger_page(8).stopped() == Reason::none);
}
END_TEST

}  // namespace

int main() {
    return run_suite("shared_state",
                     {counters_lose_nothing, one_writer_at_a_time, the_ledger_takes_any_order_of_lessons});
}
