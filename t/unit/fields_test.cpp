// Header field surgery: what comes from peers is any bytes, so each function is tried on the odd ones too.
#include "fields.h"

#include <string>
#include <vector>

#include "suite.h"

using namespace crcsync::fields;

namespace {

void expect_text(const std::string& got, const std::string& want) {
    ck_assert_str_eq(got.c_str(), want.c_str());
    ck_assert_uint_eq(got.size(), want.size());
}

START_TEST(lists_split_at_commas_outside_of_quotes) {
    const auto members = split_list(" a ,, \"b,c\" ,\t\"d\\\",e\",");
    ck_assert_uint_eq(members.size(), 3);
    expect_text(std::string(members[0]), "a");
    expect_text(std::string(members[1]), "\"b,c\"");
    expect_text(std::string(members[2]), "\"d\\\",e\"");
    ck_assert(split_list("").empty());
    ck_assert(split_list(" , ,").empty());
    ck_assert_uint_eq(split_list("\"open, for ever").size(), 1);
    ck_assert_uint_eq(split_list("\"ends in \\").size(), 1);
}
END_TEST

START_TEST(list_members_compare_without_case) {
    ck_assert(list_has("Cookie, if-block", "If-Block"));
    ck_assert(!list_has("Cookie, If-Blocks", "If-Block"));
    ck_assert(!list_has("", "If-Block"));
}
END_TEST

// C04
START_TEST(vary_is_merged_and_taken_apart) {
    expect_text(list_with("", "If-Block"), "If-Block");
    expect_text(list_with(" ,", "If-Block"), "If-Block");
    expect_text(list_with("Cookie", "If-Block"), "Cookie, If-Block");
    expect_text(list_with("IF-BLOCK,Cookie", "If-Block"), "IF-BLOCK,Cookie");
    expect_text(list_with("*", "If-Block"), "*");
    expect_text(list_without("Cookie, If-Block", "If-Block"), "Cookie");
    expect_text(list_without("if-block,Cookie ,Accept-Language, IF-BLOCK", "If-Block"), "Cookie, Accept-Language");
    expect_text(list_without("If-Block", "If-Block"), "");
    expect_text(list_without("Cookie,Host", "If-Block"), "Cookie,Host");
}
END_TEST

START_TEST(members_go_with_their_parameters) {
    expect_text(list_without_word("other; x=1 , crcsync; m=1", "crcsync"), "other; x=1");
    expect_text(list_without_word("CRCSYNC,crcsync=2, a,crcsync\t;m", "crcsync"), "a");
    expect_text(list_without_word("crcsync", "crcsync"), "");
    expect_text(list_without_word("crcsyncs;a,  \"crcsync\", x; crcsync", "crcsync"),
                "crcsyncs;a,  \"crcsync\", x; crcsync");
    expect_text(list_without_word("", "crcsync"), "");
    ck_assert(list_has_word("max-age=9, PRIVATE=\"X-Own\"", "private"));
    ck_assert(!list_has_word("private-ish, x=private, \"private\", \"a, private\"", "private"));
    ck_assert(!list_has_word("", "private"));
}
END_TEST

START_TEST(a_quote_that_is_never_closed_takes_nothing_in) {
    for (const char* vary : {"Cookie, \"a", "\"", "\"a\\", "\"a\\\"", "x=\"a, b"}) {
        const std::string with = list_with(vary, "If-Block");
        ck_assert_msg(list_has(with, "If-Block"), "%s", vary);
        expect_text(list_with(with, "If-Block"), with);
        expect_text(list_without(with, "If-Block"), vary);
    }
    expect_text(list_with("\"a\", \"b, \\\" c\"", "If-Block"), "\"a\", \"b, \\\" c\", If-Block");
}
END_TEST

START_TEST(tokens) {
    for (const char* token : {"a", "Accept-Encoding", "x_1.~!#$%&'*+^`|"}) ck_assert_msg(is_token(token), "%s", token);
    for (const char* other : {"", " ", "a b", "\"a\"", "a,", "a=b", "caf\xc3\xa9", "a\x7f"}) {
        ck_assert_msg(!is_token(other), "%s", other);
    }
    expect_text(lower_case("Accept-ENCODING \xc4"), "accept-encoding \xc4");
}
END_TEST

// C06
START_TEST(a_q_of_zero_refuses_a_coding) {
    for (const char* zero : {"crcsync;q=0", "gzip, crcsync ; Q=0.000", "CRCSYNC; q = 0.", "crcsync;a=b;q=0", "*;q=0"}) {
        ck_assert_msg(refuses_coding(zero, "crcsync"), "%s", zero);
        ck_assert_msg(!accepts_coding(zero, "crcsync"), "%s", zero);
    }
    for (const char* other : {"crcsync", "crcsync;q=0.001", "crcsync;q=00", "crcsync;q=", "crcsync;q=x", "crcsync;qq=0",
                              "*;q=0, crcsync", "crcsync, crcsync;q=0", "crcsync;;", "crcsync;q"}) {
        ck_assert_msg(!refuses_coding(other, "crcsync"), "%s", other);
        ck_assert_msg(accepts_coding(other, "crcsync"), "%s", other);
    }
    for (const char* silent : {"", "gzip;q=0", "gzip, deflate"}) {
        ck_assert_msg(!refuses_coding(silent, "crcsync"), "%s", silent);
        ck_assert_msg(!accepts_coding(silent, "crcsync"), "%s", silent);
    }
    ck_assert(refuses_coding("gzip, *;q=0", "identity"));
    ck_assert(refuses_coding("identity;q=0", "identity"));
    ck_assert(!refuses_coding("gzip, *", "identity"));
    ck_assert(refuses_coding("x-gzip;q=0", "gzip"));
    ck_assert(accepts_coding("x-gzip", "gzip"));
}
END_TEST

// C08
START_TEST(accept_encoding_is_narrowed_to_what_can_be_undone) {
    expect_text(narrow_accept_encoding("gzip, deflate, br, zstd"), "gzip, deflate");
    expect_text(narrow_accept_encoding("br;q=1, GZIP;q=0.5,identity; q=0"), "GZIP;q=0.5, identity; q=0");
    expect_text(narrow_accept_encoding("br, zstd"), "identity");
    expect_text(narrow_accept_encoding(""), "identity");
    expect_text(narrow_accept_encoding("*;q=0.5"), "gzip;q=0.5");
    expect_text(narrow_accept_encoding("x-gzip, *"), "x-gzip");
    expect_text(narrow_accept_encoding("gzip, *;q=0"), "gzip, *;q=0");
    expect_text(narrow_accept_encoding("*;q=0, *"), "*;q=0");
    expect_text(narrow_accept_encoding("*;q=0.5, *;q=0"), "gzip;q=0.5");
}
END_TEST

START_TEST(codings_that_a_suffix_may_name) {
    for (const char* known : {"identity", "gzip", "x-gzip", "deflate", "GZip"}) ck_assert(is_known_coding(known));
    for (const char* other : {"", "br", "gzip ", "gzi", "crcsync"}) ck_assert(!is_known_coding(other));
}
END_TEST

// C03
START_TEST(the_suffix_goes_inside_the_quotes) {
    expect_text(tag_with_suffix("\"x\"", "identity"), "\"x-crcsync-identity\"");
    expect_text(tag_with_suffix("W/\"x\"", "gzip"), "W/\"x-crcsync-gzip\"");
    expect_text(tag_with_suffix("\"\"", "identity"), "\"-crcsync-identity\"");
    expect_text(tag_with_suffix("x", "X-GZIP"), "x-crcsync-x-gzip");
    expect_text(tag_with_suffix("", "identity"), "");
    expect_text(tag_with_suffix("\"", "identity"), "\"-crcsync-identity");
}
END_TEST

// C03
START_TEST(exactly_one_suffix_comes_off) {
    const auto expect_split = [](const char* tag, const char* original, const char* coding) {
        const auto split = split_tag_suffix(tag);
        ck_assert_msg(split.found, "%s", tag);
        expect_text(split.original, original);
        expect_text(split.coding, coding);
    };
    expect_split("\"x-crcsync-identity\"", "\"x\"", "identity");
    expect_split("W/\"x-crcsync-gzip\"", "W/\"x\"", "gzip");
    expect_split("\"x\"-crcsync-x-gzip", "\"x\"", "x-gzip");
    expect_split("\"-crcsync-identity\"", "\"\"", "identity");
    expect_split("x-crcsync-Deflate", "x", "Deflate");
    expect_split("\"x-crcsync-gzip-crcsync-identity\"", "\"x-crcsync-gzip\"", "identity");
    expect_split("\"x-crcsync-gzip\"-crcsync-identity", "\"x-crcsync-gzip\"", "identity");
    for (const char* none : {"", "\"", "\"\"", "\"x\"", "\"x-crcsync-\"", "\"x-crcsync-br\"", "\"x-CRCSYNC-gzip\"",
                             "\"x-crcsync-gzip \"", "-crcsync-gzip", "\"-crcsync-gzip\" y", "*"}) {
        const auto split = split_tag_suffix(none);
        ck_assert_msg(!split.found, "%s", none);
        expect_text(split.original, none);
    }
}
END_TEST

START_TEST(a_suffix_comes_off_as_it_went_on) {
    for (const char* tag : {"\"x\"", "W/\"x\"", "\"\"", "W/\"\"", "x", "\"", "x\"", "\"x", "\"a\\\"",
                            "\"x-crcsync-gzip\"", "\"x\"-crcsync-gzip", "W/", "\"a\" \"b\"", "\xff\x01"}) {
        for (const char* coding : {"identity", "gzip", "x-gzip", "deflate"}) {
            const auto split = split_tag_suffix(tag_with_suffix(tag, coding));
            ck_assert_msg(split.found, "%s", tag);
            expect_text(split.original, tag);
            expect_text(split.coding, coding);
        }
    }
}
END_TEST

// C03
START_TEST(weak_tags) {
    expect_text(weak_tag("\"x\""), "W/\"x\"");
    expect_text(weak_tag("W/\"x\""), "W/\"x\"");
    expect_text(weak_tag(" \"\" "), "W/\"\"");
    expect_text(weak_tag("\"a b\\\""), "W/\"a b\\\"");
    for (const char* no_tag : {"", "x", "W/", "W/x", "w/\"x\"", "\"", "W/\"", "\"x", "x\"", "\"a\"b\"", "\"a\", \"b\"",
                               "W/W/\"x\"", "W/ \"x\"", "\"x\"-y"}) {
        expect_text(weak_tag(no_tag), "");
    }
}
END_TEST

// C03
START_TEST(lists_of_tags_lose_their_suffixes) {
    const auto expect_stripped = [](const char* list, const char* want, bool want_changed) {
        bool changed = !want_changed;
        expect_text(strip_tag_suffixes(list, changed), want);
        ck_assert_int_eq(changed, want_changed);
    };
    expect_stripped("\"x-crcsync-identity\"", "\"x\"", true);
    expect_stripped("\"a\",W/\"b-crcsync-gzip\" , \"c,d-crcsync-gzip\"", "\"a\", W/\"b\", \"c,d\"", true);
    expect_stripped("\"a\\\", \"b-crcsync-gzip\"", "\"a\\\", \"b\"", true);
    expect_stripped("\"a\" ,\"b\"", "\"a\" ,\"b\"", false);
    expect_stripped("*", "*", false);
    expect_stripped("", "", false);
    expect_stripped("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:00 GMT", false);
}
END_TEST

}  // namespace

int main() {
    return run_suite("fields", {lists_split_at_commas_outside_of_quotes, list_members_compare_without_case,
                                vary_is_merged_and_taken_apart, members_go_with_their_parameters,
                                a_quote_that_is_never_closed_takes_nothing_in, tokens, a_q_of_zero_refuses_a_coding,
                                accept_encoding_is_narrowed_to_what_can_be_undone, codings_that_a_suffix_may_name,
                                the_suffix_goes_inside_the_quotes, exactly_one_suffix_comes_off,
                                a_suffix_comes_off_as_it_went_on, weak_tags, lists_of_tags_lose_their_suffixes});
}
