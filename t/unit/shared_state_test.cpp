// What the threads of all children share: counters, ledger, turns to write, what origins have cleared. Many threads use
// them at once; under ThreadSanitizer (build/test.sh) each access that is not ordered is a failure.
//
// The code is the modules' own. Of httpd it needs memory that APR gives, the log, and random numbers; the last two are
// here instead, and so is a store of fields, which can be made to do something just when it is read.

#include <atomic>
#include <cstdarg>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apache.h"
#include "base_store.h"
#include "cleared_origins.h"
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
apr_uint32_t ap_random_pick(apr_uint32_t low, apr_uint32_t high) {
    static std::atomic<apr_uint32_t> last{0};
    return low + last.fetch_add(1) % (high - low);
}
}

namespace {

// Of the store, what stands in it; it is written by one at a time, as the real one must be.
struct Fields {
    std::mutex mutex;
    std::map<std::string, std::string> values;
    std::function<void()> when_read;  // runs once, between reading a value and handing it out
    std::atomic<int> writers{0};
    std::atomic<bool> together{false};
};
Fields fields;

}  // namespace

std::string BaseStore::read_field(const std::string& entity, const char*) const {
    std::string value;
    std::function<void()> then;
    {
        const std::lock_guard lock(fields.mutex);
        value = fields.values[entity];
        then = std::exchange(fields.when_read, nullptr);
    }
    if (then) then();
    return value;
}

Reason BaseStore::write_field(const std::string& entity, const char*, const std::string& value) const {
    if (fields.writers.fetch_add(1, std::memory_order_relaxed) != 0) fields.together = true;
    {
        const std::lock_guard lock(fields.mutex);
        fields.values[entity] = value;
    }
    fields.writers.fetch_sub(1, std::memory_order_relaxed);
    return Reason::none;
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

// Here and below C32: what an origin has taken back is not offered again.

// The store is read for the old generation, and meanwhile the origin clears: its word counts.
START_TEST(a_clearing_is_not_undone_by_who_has_read_before) {
    Server server;
    open_cleared_origins(&server.server);
    std::uint32_t cleared = 0;
    fields.when_read = [&] {
        ck_assert_ptr_null(clear_origin(nullptr, "http://origin.example"));
        cleared = generation_of(nullptr, "http://origin.example");
    };
    ck_assert_uint_eq(generation_of(nullptr, "http://origin.example"), cleared);
    ck_assert_uint_ne(cleared, 0);
    ck_assert_uint_eq(generation_of(nullptr, "http://origin.example"), cleared);
    ck_assert_uint_eq(generation_of(nullptr, "http://other.example"), 0);
}
END_TEST

// The mark is written although another writes at the same place; of a writer who does not end it is told.
START_TEST(a_clearing_waits_for_its_turn) {
    Server server;
    open_write_turns(&server.server);
    open_cleared_origins(&server.server);
    ck_assert_ptr_null(clear_origin(nullptr, "http://origin.example"));
    const std::string entity = fields.values.begin()->first;
    const std::string before = fields.values[entity];
    auto turn = std::make_unique<WriteTurn>(entity);
    ck_assert(turn->taken());
    ck_assert_ptr_nonnull(clear_origin(nullptr, "http://origin.example"));
    ck_assert_str_eq(fields.values[entity].c_str(), before.c_str());
    ck_assert(std::to_string(generation_of(nullptr, "http://origin.example")) != before);

    std::thread writer([&] {
        apr_sleep(20'000);
        turn.reset();
    });
    ck_assert_ptr_null(clear_origin(nullptr, "http://origin.example"));
    writer.join();
    ck_assert_str_ne(fields.values[entity].c_str(), before.c_str());
}
END_TEST

// However many clear at once, memory and store agree in the end.
START_TEST(the_last_clearing_counts_in_memory_and_store) {
    Server server;
    open_write_turns(&server.server);
    open_cleared_origins(&server.server);
    std::atomic<bool> wrong{false};
    in_threads([&](unsigned number) {
        for (unsigned i = 0; i < 4; ++i) {
            if (number % 2 == 0 && clear_origin(nullptr, "http://origin.example") != nullptr) wrong = true;
            for (unsigned look = 0; look < 500; ++look) generation_of(nullptr, "http://origin.example");
        }
    });
    ck_assert(!wrong && !fields.together);
    ck_assert_uint_eq(fields.values.size(), 1);
    ck_assert(fields.values.begin()->second == std::to_string(generation_of(nullptr, "http://origin.example")));
}
END_TEST

}  // namespace

int main() {
    return run_suite("shared_state",
                     {counters_lose_nothing, one_writer_at_a_time, the_ledger_takes_any_order_of_lessons,
                      a_clearing_is_not_undone_by_who_has_read_before, a_clearing_waits_for_its_turn,
                      the_last_clearing_counts_in_memory_and_store});
}
