// What the client's store keeps beside the bytes.
#include "base_record.h"

#include "samples.h"
#include "suite.h"
#include "vary_names.h"

using namespace crcsync;
using namespace crcsync::client;
using samples::expect_text;

namespace {

const std::string digits = "000102030405060708090a0b0c0d0e0f10111213";

START_TEST(a_record_is_read_as_it_was_written) {
    BaseRecord record;
    record.size = 84240;
    for (std::size_t i = 0; i < record.sha1.size(); ++i) record.sha1[i] = static_cast<std::uint8_t>(i);
    for (const char* variant : {"", "0badcafe"}) {
        record.variant = variant;
        const std::string text = record.format();
        expect_text(text, "1 84240 " + digits + (*variant != '\0' ? " " : "") + variant);
        const auto read = BaseRecord::parse(text);
        ck_assert(read.has_value());
        ck_assert_uint_eq(read->size, 84240);
        ck_assert(read->sha1 == record.sha1);
        expect_text(read->variant, variant);
    }
}
END_TEST

START_TEST(the_largest_size) {
    const auto read = BaseRecord::parse("1 18446744073709551615 " + digits);
    ck_assert(read && read->size == UINT64_MAX);
    ck_assert(!BaseRecord::parse("1 18446744073709551616 " + digits));
}
END_TEST

START_TEST(damaged_records_are_refused) {
    for (const std::string& text :
         {std::string(), std::string("1"), "2 7 " + digits, "1 0 " + digits, "1  " + digits, "1 -7 " + digits,
          "1 +7 " + digits, "1 7x " + digits, "1 7 " + digits.substr(1), "1 7 " + digits + "00",
          "1 7 g" + digits.substr(1), "1 7 A" + digits.substr(1), "1 7 " + digits + " a b", "1 7 " + digits + "  a",
          " 1 7 " + digits, std::string("1 7")}) {
        ck_assert_msg(!BaseRecord::parse(text), "'%s'", text.c_str());
    }
}
END_TEST

START_TEST(names_of_vary_are_sorted_and_stand_once) {
    expect_text(join_names(parse_vary_names("Cookie, accept-language,COOKIE ,User-Agent")),
                "accept-language, cookie, user-agent");
    expect_text(join_names(parse_vary_names("Accept-Encoding, If-Block, *")), "");
    expect_text(join_names(parse_vary_names("")), "");
    // The list is written and read again: what is no name could come back as another.
    expect_text(join_names(parse_vary_names("b, \"a, c, d e, caf\xc3\xa9")), "b");
}
END_TEST

START_TEST(names_have_limits) {
    const auto names = [](unsigned count, std::size_t size) {
        VaryNames list;
        for (unsigned i = 0; i < count; ++i) list.push_back(std::string(size - 2, 'n') + std::to_string(10 + i));
        return list;
    };
    ck_assert(!too_many_names(names(16, 5)));
    ck_assert(too_many_names(names(17, 5)));
    ck_assert(!too_many_names(names(1, 512)));
    ck_assert(too_many_names(names(1, 513)));
    ck_assert(!too_many_names({}));
}
END_TEST

}  // namespace

int main() {
    return run_suite("base_record", {a_record_is_read_as_it_was_written, the_largest_size, damaged_records_are_refused,
                                     names_of_vary_are_sorted_and_stand_once, names_have_limits});
}
