// The client's plan: how many blocks, and when not to ask for a delta.
#include "block_plan.h"

#include "if_block.h"
#include "samples.h"
#include "suite.h"

using namespace crcsync;

namespace {

START_TEST(about_a_third_of_the_root) {
    ck_assert_uint_eq(plan_blocks(84240, {}), 97);
    ck_assert_uint_eq(plan_blocks(14400, {}), 40);
    ck_assert_uint_eq(plan_blocks(1024, {}), 11);
}
END_TEST

START_TEST(blocks_are_never_short) {
    for (const std::uint32_t wanted : {0U, 1U, 40U, 256U}) {
        for (std::uint64_t size = 0; size < 40000; size += 13) {
            const std::uint32_t blocks = plan_blocks(size, {wanted, 2400});
            ck_assert_uint_le(blocks, max_blocks);
            if (blocks > 0) ck_assert_uint_ge(size / blocks, min_block_size);
            if (size >= min_block_size) ck_assert_uint_ge(blocks, 1);
        }
    }
    ck_assert_uint_eq(plan_blocks(63, {}), 0);
}
END_TEST

START_TEST(the_field_stays_within_its_bound) {
    for (const std::size_t bound : {std::size_t{0}, std::size_t{30}, std::size_t{457}, std::size_t{2400}}) {
        for (const std::uint64_t size : {2000ULL, 84240ULL, 100'000'000ULL, 1'000'000'000'000ULL}) {
            const std::uint32_t blocks = plan_blocks(size, {256, bound});
            if (blocks > 0) {
                ck_assert_uint_le(if_block_line_size(std::string(if_block_value_size(size, blocks), 'x')), bound);
            }
        }
    }
    ck_assert_uint_eq(plan_blocks(84240, {0, 30}), 0);
    ck_assert_uint_eq(plan_blocks(100'000'000, {}), 221);
}
END_TEST

START_TEST(a_page_that_pays_keeps_its_blocks) {
    DeltaHistory history;
    for (int fetch = 0; fetch < 50; ++fetch) {
        ck_assert_uint_eq(history.next_blocks(96), 96);
        history.delta(1100, 2000, 100000, 1000, 900);
    }
}
END_TEST

START_TEST(losses_lower_the_blocks_and_then_stop) {
    DeltaHistory history;
    history.plain(20000, 100000);
    std::string blocks;
    for (int fetch = 0; fetch < 60; ++fetch) {
        const std::uint32_t next = history.next_blocks(96);
        blocks += std::to_string(next) + " ";
        if (next > 0) {
            history.delta(1000, 20000, 100000, 100000, 20000);
        } else {
            history.plain(20000, 100000);
        }
    }
    const std::string expected =
        "96 48 24 12 12 0 12 0 0 12 0 0 0 0 12 0 0 0 0 0 0 0 0 12 0 0 0 0 0 0 0 0 0 12 0 0 0 0 0 0 0 0 0 12 ";
    ck_assert_msg(blocks.starts_with(expected), "%s", blocks.c_str());
}
END_TEST

START_TEST(it_comes_back_when_deltas_pay_again) {
    DeltaHistory history;
    history.plain(20000, 100000);
    for (int fetch = 0; fetch < 30; ++fetch) {
        if (history.next_blocks(96) > 0) history.delta(1000, 20000, 100000, 100000, 20000);
    }
    int fetches = 0;
    while (history.next_blocks(96) < 96) {
        ck_assert_int_lt(++fetches, 20);
        if (history.pause == 0) history.delta(200, 500, 100000, 100, 90);
    }
}
END_TEST

START_TEST(without_a_plain_response_the_literals_tell) {
    DeltaHistory history;
    // Literals at 20 percent: a plain response would have taken about 20,000 bytes.
    history.delta(1000, 19500, 100000, 95000, 19000);
    ck_assert_uint_eq(history.next_blocks(96), 48);
    DeltaHistory unknown;
    unknown.delta(1000, 101, 100000, 0, 0);
    ck_assert_uint_eq(unknown.next_blocks(96), 96);
}
END_TEST

START_TEST(refusals_stop_it_from_the_second_on) {
    DeltaHistory history;
    std::string blocks;
    for (int fetch = 0; fetch < 14; ++fetch) {
        const std::uint32_t next = history.next_blocks(96);
        blocks += std::to_string(next) + " ";
        if (next > 0) history.refused();
    }
    samples::expect_text(blocks, "96 96 0 96 0 0 96 0 0 0 0 96 0 0 ");
}
END_TEST

START_TEST(any_bytes_are_a_history) {
    for (unsigned seed = 0; seed < 1000; ++seed) {
        DeltaHistory history;
        const std::string bytes = samples::noise(sizeof history, seed);
        std::memcpy(static_cast<void*>(&history), bytes.data(), sizeof history);
        bool asked = false;
        for (int fetch = 0; fetch < 11; ++fetch) {
            const std::uint32_t blocks = history.next_blocks(96);
            ck_assert_uint_le(blocks, 96);
            asked |= blocks > 0;
        }
        ck_assert_msg(asked, "not asked within ten fetches");
        history.delta(seed, seed, 0, 0, 0);
        history.delta(UINT64_MAX / 2, 1, 1000, 10, 1);
        history.plain(UINT64_MAX, 1);
    }
}
END_TEST

}  // namespace

int main() {
    return run_suite("block_plan", {about_a_third_of_the_root, blocks_are_never_short, the_field_stays_within_its_bound,
                                    a_page_that_pays_keeps_its_blocks, losses_lower_the_blocks_and_then_stop,
                                    it_comes_back_when_deltas_pay_again, without_a_plain_response_the_literals_tell,
                                    refusals_stop_it_from_the_second_on, any_bytes_are_a_history});
}
