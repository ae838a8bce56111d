// The If-Block field: what a server takes, what it refuses, and what a client sends.
#include "if_block.h"

#include "samples.h"
#include "suite.h"

using namespace crcsync;

namespace {

constexpr std::uint64_t no_limit = UINT64_MAX;
const std::string one_hash = "AAAAAAAAAAE=";  // 1

Status parse(const std::string& value, IfBlock& out, std::uint64_t max_block = no_limit) {
    return parse_if_block(value, max_block, out);
}

void expect(const std::string& value, Status status, std::uint64_t max_block = no_limit) {
    IfBlock out;
    const Status got = parse(value, out, max_block);
    ck_assert_msg(got == status, "'%s' gives %s, not %s", value.c_str(), name(got), name(status));
}

std::string hashes(std::uint32_t count) {
    IfBlock if_block;
    if_block.layout = {100000, count};
    if_block.hashes.assign(count, 0x0102030405060708U);
    const std::string value = format_if_block(if_block);
    return value.substr(value.find("h=") + 2);
}

START_TEST(what_is_written_is_read_again) {
    for (const std::uint32_t count : {1U, 2U, 3U, 40U, 255U, 256U}) {
        const IfBlock sent = samples::signature(samples::noise(20000 + count, count), count);
        const std::string value = format_if_block(sent);
        ck_assert_uint_eq(value.size(), if_block_value_size(sent.layout.size, count));
        ck_assert_uint_eq(if_block_line_size(value), ("If-Block: " + value + "\r\n").size());
        IfBlock got;
        ck_assert(parse(value, got) == Status::ok);
        ck_assert_uint_eq(got.layout.size, sent.layout.size);
        ck_assert_uint_eq(got.layout.count, count);
        ck_assert(got.hashes == sent.hashes);
    }
}
END_TEST

START_TEST(hashes_are_in_network_byte_order) {
    IfBlock got;
    ck_assert(parse("fs=8; h=AQIDBAUGBwg=", got) == Status::ok);
    ck_assert_uint_eq(got.hashes.front(), 0x0102030405060708U);
}
END_TEST

START_TEST(parts_come_in_any_order_and_unknown_ones_are_ignored) {
    for (const std::string& value :
         {"h=" + one_hash + ";fs=64", "fs=64;h=" + one_hash + ";v=1", " v=1 ;\tfs=64 ; h=" + one_hash + " ;; ",
          "x=1;fs=64;y;h=" + one_hash + ";=;x=2", "v = 1; fs = 64; h = " + one_hash}) {
        expect(value, Status::ok);
    }
}
END_TEST

// C34
START_TEST(malformed_values) {
    for (const std::string size : {"0", "-1", "", "+5", "1x", "0x10", "18446744073709551616", "1 0", "1.0"}) {
        expect(std::string("fs=").append(size).append(";h=").append(one_hash), Status::bad_if_block);
    }
    for (const std::string& h : {std::string(), std::string("="), std::string("===="), std::string("AAAA"),
                                 std::string("AAAAAAAAAA=="), std::string("AAAAAAAAAAE=="), std::string("AAAAAAAAAA"),
                                 std::string("AAAAAA AAAAE="), std::string("AAAAAAAAAA-="), std::string("AAAA=AAAAAE="),
                                 std::string("AAAAAAAAAAE\0", 12), hashes(256) + "AAAA", std::string(4000, 'A')}) {
        expect("fs=100000;h=" + h, Status::bad_if_block);
    }
    expect("", Status::bad_if_block);
    expect("fs=64", Status::bad_if_block);
    expect("h=" + one_hash, Status::bad_if_block);
    expect("fs=64;fs=64;h=" + one_hash, Status::bad_if_block);
    expect("v=1;v=1;fs=64;h=" + one_hash, Status::bad_if_block);
    expect("fs=64;h=" + one_hash + ";h=" + one_hash, Status::bad_if_block);
    expect("v=;fs=64;h=" + one_hash, Status::bad_if_block);
    expect("v=x;fs=64;h=" + one_hash, Status::bad_if_block);
    expect("fs=64;h=" + one_hash + ";x=" + std::string(max_if_block_value, 'x'), Status::bad_if_block);
    expect("fs=39;h=" + hashes(40), Status::bad_if_block);
    expect("fs=40;h=" + hashes(40), Status::ok);
    expect("fs=100000;h=" + hashes(256), Status::ok);
    expect("fs=100000;h=" + hashes(257), Status::bad_if_block);
}
END_TEST

START_TEST(padding_may_be_missing_but_not_wrong) {
    expect("fs=64;h=AAAAAAAAAAE", Status::ok);
    expect("fs=64;h=AAAAAAAAAAEAAAAAAAAAAg==", Status::ok);
    expect("fs=64;h=AAAAAAAAAAEAAAAAAAAAAg", Status::ok);
    expect("fs=64;h=AAAAAAAAAAEAAAAAAAAAAg=", Status::bad_if_block);
}
END_TEST

START_TEST(other_versions) {
    expect("v=2; q=abc", Status::unsupported_version);
    expect("v=0;fs=64;h=" + one_hash, Status::unsupported_version);
    expect("v=4294967297;fs=64;h=" + one_hash, Status::unsupported_version);
}
END_TEST

// C34
START_TEST(large_blocks_are_refused) {
    expect("fs=1000;h=" + one_hash, Status::ok, 1000);
    expect("fs=1001;h=" + one_hash, Status::block_limit, 1000);
    for (const std::string size :
         {"2147483647", "2147483648", "2147483649", "9223372036854775808", "18446744073709551615"}) {
        expect("fs=" + size + ";h=" + hashes(40), Status::block_limit, 1 << 20);
    }
    // The limit holds for the last block, which is the longest: 40 blocks of 100 bytes and a remainder of 39.
    expect("fs=4039;h=" + hashes(40), Status::ok, 139);
    expect("fs=4039;h=" + hashes(40), Status::block_limit, 138);
}
END_TEST

START_TEST(layout_covers_the_base) {
    for (std::uint64_t size = 1; size < 1500; ++size) {
        for (const std::uint32_t count : {1U, 2U, 7U, 40U, 256U}) {
            if (count > size) continue;
            const BlockLayout layout{size, count};
            ck_assert_uint_eq(layout.offset(count - 1) + layout.last(), size);
            ck_assert_uint_ge(layout.last(), layout.normal());
            ck_assert_uint_ge(layout.normal(), 1);
        }
    }
}
END_TEST

}  // namespace

int main() {
    return run_suite("if_block", {what_is_written_is_read_again, hashes_are_in_network_byte_order,
                                  parts_come_in_any_order_and_unknown_ones_are_ignored, malformed_values,
                                  padding_may_be_missing_but_not_wrong, other_versions, large_blocks_are_refused,
                                  layout_covers_the_base});
}
