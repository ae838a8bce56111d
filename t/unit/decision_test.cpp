// The server's decision, away from any server: the same answer for whatever carries the delta.
#include "decision.h"

#include "suite.h"

using namespace crcsync;
using namespace crcsync::server;

namespace {

constexpr const char* all[] = {"*/*"};
const std::string good = "fs=1000; h=AAAAAAAAAAE=";

Policy policy() {
    return {.min_size = 100, .max_block = 1000, .types = all, .types_excluded = {}};
}

ResponseFacts page() {
    ResponseFacts facts;
    facts.status = 200;
    facts.content_type = "text/html; charset=utf-8";
    facts.size = 5000;
    return facts;
}

void expect(const ResponseFacts& facts, Reason reason, const std::string& if_block = good) {
    const auto decision = decide(if_block, policy(), facts);
    ck_assert_msg(decision.reason == reason, "%s, not %s", name(decision.reason), name(reason));
}

START_TEST(a_page_may_be_a_delta) {
    const auto decision = decide(good, policy(), page());
    ck_assert(decision.reason == Reason::none);
    ck_assert_uint_eq(decision.if_block.layout.size, 1000);
    ck_assert(decision.undo == Undo::nothing);
    ck_assert_str_eq(decision.coding.c_str(), "identity");
    ck_assert(decision.compressible);
}
END_TEST

// C11, C12, C13
START_TEST(each_refusal_has_its_reason) {
    const auto with = [](auto change) {
        auto facts = page();
        change(facts);
        return facts;
    };
    expect(with([](auto& f) { f.status = 404; }), Reason::status);
    expect(with([](auto& f) { f.status = 206; }), Reason::range);
    expect(with([](auto& f) { f.partial = true; }), Reason::range);
    expect(with([](auto& f) { f.digest = true; }), Reason::digest);
    expect(with([](auto& f) { f.cache_control = "public, No-Transform"; }), Reason::no_transform);
    expect(with([](auto& f) { f.cache_control = "private, x=\"no-transform\""; }), Reason::none);
    for (const char* type :
         {"Text/Event-Stream ;x=y", "multipart/x-mixed-replace; boundary=b", "application/x-ndjson"}) {
        expect(with([=](auto& f) { f.content_type = type; }), Reason::event_stream);
    }
    expect(with([](auto& f) { f.content_type = "text/event-streams"; }), Reason::none);
    expect(with([](auto& f) { f.size = 99; }), Reason::too_small);
    expect(with([](auto& f) { f.size = 100; }), Reason::none);
    expect(with([](auto& f) { f.size = std::nullopt; }), Reason::none);
    expect(with([](auto& f) { f.content_encoding = "br"; }), Reason::already_coded);
    expect(with([](auto& f) { f.content_encoding = "gzip, gzip"; }), Reason::already_coded);
    expect(page(), Reason::bad_if_block, "fs=0; h=AAAAAAAAAAE=");
    expect(page(), Reason::unsupported_version, "v=2; fs=1000; h=AAAAAAAAAAE=");
    expect(page(), Reason::block_limit, "fs=1001; h=AAAAAAAAAAE=");
}
END_TEST

// C10
START_TEST(nothing_is_never_a_delta) {
    auto none = policy();
    none.min_size = 0;
    auto facts = page();
    facts.size = 0;
    ck_assert(decide(good, none, facts).reason == Reason::too_small);
    facts.size = 1;
    ck_assert(decide(good, none, facts).reason == Reason::none);
}
END_TEST

// C07
START_TEST(codings_that_can_be_undone) {
    struct Case {
        const char* field;
        Undo undo;
        const char* coding;
    };
    for (const auto& [field, undo, coding] :
         {Case{"gzip", Undo::gzip, "gzip"}, Case{"X-GZip", Undo::gzip, "x-gzip"},
          Case{" deflate ", Undo::deflate, "deflate"}, Case{"identity, gzip", Undo::gzip, "gzip"},
          Case{"Identity", Undo::nothing, "identity"}}) {
        auto facts = page();
        facts.content_encoding = field;
        const auto decision = decide(good, policy(), facts);
        ck_assert(decision.reason == Reason::none);
        ck_assert(decision.undo == undo);
        ck_assert_str_eq(decision.coding.c_str(), coding);
    }
}
END_TEST

START_TEST(types_and_masks) {
    constexpr const char* masks[] = {"text/*", "application/json"};
    for (const char* yes : {"text/html", "TEXT/x", "application/JSON ; charset=x", " text/plain"}) {
        ck_assert_msg(type_matches(masks, yes), "%s", yes);
    }
    for (const char* no : {"", "text", "texts/html", "application/json5", "application/*", "*/*", ";text/html"}) {
        ck_assert_msg(!type_matches(masks, no), "%s", no);
    }
    ck_assert(type_matches(all, ""));
    ck_assert(!type_matches({}, "text/html"));

    auto limited = policy();
    limited.types = masks;
    constexpr const char* css[] = {"text/css"};
    limited.types_excluded = css;
    auto facts = page();
    ck_assert(decide(good, limited, facts).reason == Reason::none);
    facts.content_type = "text/css; charset=utf-8";
    ck_assert(decide(good, limited, facts).reason == Reason::type);
    facts.content_type = "image/png";
    ck_assert(decide(good, limited, facts).reason == Reason::type);

    for (const char* mask : {"text/html", "*/*", "image/*", "application/vnd.api+json"}) ck_assert(is_type_mask(mask));
    for (const char* mask : {"", "/", "text", "text/", "/x", "*/html", "text/h*", "a/b/c", "a b/c", "text/html;q=1"}) {
        ck_assert_msg(!is_type_mask(mask), "%s", mask);
    }
}
END_TEST

START_TEST(compressed_types_are_not_deflated) {
    for (const char* type : {"image/png", "video/mp4", "application/zip", "font/woff2"}) {
        auto facts = page();
        facts.content_type = type;
        const auto decision = decide(good, policy(), facts);
        ck_assert_msg(decision.reason == Reason::none && !decision.compressible, "%s", type);
    }
    for (const char* type : {"", "image/svg+xml", "image/bmp", "application/pdf", "text/plain", "font/ttf"}) {
        ck_assert_msg(!is_compressed_type(type), "%s", type);
    }
}
END_TEST

}  // namespace

int main() {
    return run_suite("decision", {a_page_may_be_a_delta, each_refusal_has_its_reason, nothing_is_never_a_delta,
                                  codings_that_can_be_undone, types_and_masks, compressed_types_are_not_deflated});
}
