// Scan and matcher against plain loops that look at every window from scratch.
#include "matcher.h"

#include "crc64.h"
#include "samples.h"
#include "suite.h"

using namespace crcsync;

namespace {

// What the matcher found, as text: "b3" for block 3, "l17" for 17 literal bytes in a row.
class Recorder final : public MatchListener {
public:
    bool literal(Bytes bytes) override {
        literals_ += bytes.size();
        instance += as_text(bytes);
        return true;
    }
    bool block(std::uint32_t number, std::uint64_t length) override {
        end_literals();
        found += "b" + std::to_string(number) + " ";
        instance += std::string(length, '#');
        return true;
    }
    void end_literals() {
        if (literals_ > 0) found += "l" + std::to_string(literals_) + " ";
        literals_ = 0;
    }
    std::string found;
    std::string instance;  // matched bytes shown as #

private:
    std::size_t literals_ = 0;
};

std::string match(const IfBlock& if_block, const std::string& page, std::size_t piece) {
    Recorder recorder;
    Matcher matcher(if_block, recorder);
    Bytes rest = as_bytes(page);
    while (!rest.empty()) {
        const Bytes part = rest.first(piece == 0 ? rest.size() : std::min(piece, rest.size()));
        ck_assert(matcher.push(part));
        rest = rest.subspan(part.size());
    }
    ck_assert(matcher.finish());
    recorder.end_literals();
    ck_assert_uint_eq(recorder.instance.size(), page.size());
    return recorder.found;
}

// The same rule as a plain loop over end positions.
std::string match_plainly(const IfBlock& if_block, const std::string& page) {
    const BlockLayout& layout = if_block.layout;
    const bool separate_last = layout.last() != layout.normal();
    const Bytes data = as_bytes(page);
    std::string found;
    std::size_t start = 0;
    std::size_t previous = SIZE_MAX;
    const auto hit = [&](std::size_t end, std::size_t block) {
        const std::size_t begin = end - layout.length(static_cast<std::uint32_t>(block));
        if (begin > start) found += "l" + std::to_string(begin - start) + " ";
        found += "b" + std::to_string(block) + " ";
        start = end;
        previous = block;
    };
    for (std::size_t end = 1; end <= page.size(); ++end) {
        if (end - start >= layout.normal()) {
            const std::uint64_t crc = crc64(0, data.subspan(end - layout.normal(), layout.normal()));
            std::vector<std::size_t> candidates;
            for (std::size_t block = 0; block < layout.count - (separate_last ? 1U : 0U); ++block) {
                if (if_block.hashes[block] == crc) candidates.push_back(block);
            }
            if (!candidates.empty()) {
                const bool goes_on = std::find(candidates.begin(), candidates.end(), previous + 1) != candidates.end();
                hit(end, goes_on ? previous + 1 : candidates.front());
                continue;
            }
        }
        const bool after_second_last = previous + 2 == layout.count && end == start + layout.last();
        if (separate_last && end - start >= layout.last() && (end == page.size() || after_second_last) &&
            crc64(0, data.subspan(end - layout.last(), layout.last())) == if_block.hashes.back()) {
            hit(end, layout.count - 1);
        }
    }
    if (start < page.size()) found += "l" + std::to_string(page.size() - start) + " ";
    return found;
}

void expect_as_plain(const std::string& base, const std::string& page, std::uint32_t blocks) {
    const IfBlock if_block = samples::signature(base, blocks);
    const std::string expected = match_plainly(if_block, page);
    for (const std::size_t piece :
         {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{100}, std::size_t{4096}}) {
        const std::string got = match(if_block, page, piece);
        ck_assert_msg(got == expected, "pieces of %zu: %s instead of %s", piece, got.c_str(), expected.c_str());
    }
}

// C16
START_TEST(as_the_plain_loop) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const std::string base = samples::text(300 + seed * 37, seed);
        for (const std::uint32_t blocks : {1U, 2U, 5U, 40U}) {
            expect_as_plain(base, samples::edit(base, seed % 6, seed + 100), blocks);
        }
    }
}
END_TEST

START_TEST(blocks_that_come_again_and_again) {
    const std::string base = samples::text(1013, 7);
    expect_as_plain(base, base + base, 10);
    expect_as_plain(base, base.substr(500) + base.substr(0, 500) + base.substr(900), 10);
    expect_as_plain(std::string(1013, 'a'), std::string(2222, 'a'), 10);
    expect_as_plain(std::string(1000, '\0') + base, base + std::string(777, '\0'), 8);
    expect_as_plain(std::string("abababab"), std::string("babababababab"), 2);
}
END_TEST

START_TEST(the_last_block) {
    const std::string base = samples::noise(1019, 9);  // ten of 101 bytes, the last 110
    const std::string last = base.substr(909);
    expect_as_plain(base, last, 10);
    expect_as_plain(base, "in front " + last, 10);
    expect_as_plain(base, base.substr(808) + "behind", 10);
    const IfBlock if_block = samples::signature(base, 10);
    samples::expect_text(match(if_block, base.substr(808) + "behind", 0), "b8 b9 l6 ");
    samples::expect_text(match(if_block, "in front " + last, 3), "l9 b9 ");
}
END_TEST

START_TEST(a_page_shorter_than_a_block) {
    const IfBlock if_block = samples::signature(samples::noise(1000, 1), 2);
    samples::expect_text(match(if_block, "", 0), "");
    samples::expect_text(match(if_block, "x", 0), "l1 ");
    samples::expect_text(match(if_block, std::string(499, 'x'), 0), "l499 ");
}
END_TEST

START_TEST(long_stretches_run_in_lanes) {
    // Hits at places that fall into each lane and onto each border of a stretch.
    const std::string base = samples::noise(640, 11);
    const IfBlock if_block = samples::signature(base, 10);
    const std::string block = base.substr(3 * 64, 64);
    const std::string filler = samples::noise(150000, 12);
    for (std::size_t at = 1; at < filler.size(); at = at * 5 / 4 + 1) {
        const std::string page = filler.substr(0, at) + block + filler.substr(at, 5000);
        const std::string got = match(if_block, page, 0);
        const std::string expected = "l" + std::to_string(at) + " b3 l" + std::to_string(page.size() - at - 64) + " ";
        ck_assert_msg(got == expected, "%s instead of %s", got.c_str(), expected.c_str());
    }
    // Blocks much longer than a lane, whose starts follow from each other.
    const std::string large = samples::noise(300000, 13);
    const IfBlock three = samples::signature(large, 3);
    samples::expect_text(match(three, "x" + large.substr(100000) + filler, 5000), "l1 b1 b2 l150000 ");
}
END_TEST

START_TEST(two_hits_in_one_stretch_come_in_order) {
    const std::string base = samples::noise(640, 14);
    const std::string filler = samples::noise(40000, 15);
    for (std::size_t gap = 1; gap < 9000; gap = gap * 3 / 2 + 1) {
        const std::string page = filler.substr(0, 500) + base.substr(64, 64) + filler.substr(0, gap) +
                                 base.substr(320, 64) + filler.substr(0, 20000) + base.substr(0, 64);
        expect_as_plain(base, page, 10);
    }
}
END_TEST

// C14
START_TEST(flush_keeps_less_than_a_block) {
    const std::string base = samples::noise(1019, 16);
    const IfBlock if_block = samples::signature(base, 10);
    const std::string page = samples::noise(400, 17) + base + samples::noise(300, 18);
    for (const std::size_t step : {1, 2, 50, 101, 333}) {
        Recorder recorder;
        Matcher matcher(if_block, recorder);
        for (std::size_t at = 0; at < page.size(); at += step) {
            const std::string piece = page.substr(at, step);
            ck_assert(matcher.push(as_bytes(piece)));
            ck_assert(matcher.flush());
            ck_assert(matcher.flush());
            ck_assert_uint_lt(at + piece.size() - recorder.instance.size(), if_block.layout.normal());
        }
        ck_assert(matcher.finish());
        ck_assert_uint_eq(recorder.instance.size(), page.size());
        for (std::size_t i = 0; i < page.size(); ++i) {
            ck_assert(recorder.instance[i] == '#' || recorder.instance[i] == page[i]);
        }
        // The nine normal blocks are found in any case.
        ck_assert(recorder.found.find("b0 b1 b2 b3 b4 b5 b6 b7 b8 ") != std::string::npos);
    }
}
END_TEST

// C14
START_TEST(flush_just_before_the_end_finds_the_last_block) {
    const std::string base = samples::noise(1019, 19);
    const IfBlock if_block = samples::signature(base, 10);
    std::string page = base;
    page[850] ^= 1;
    Recorder recorder;
    Matcher matcher(if_block, recorder);
    ck_assert(matcher.push(as_bytes(page)));
    ck_assert(matcher.flush());
    ck_assert(matcher.finish());
    samples::expect_text(recorder.found, "b0 b1 b2 b3 b4 b5 b6 b7 l101 b9 ");
}
END_TEST

START_TEST(a_listener_that_stops) {
    class Stopper final : public MatchListener {
        bool literal(Bytes) override { return false; }
        bool block(std::uint32_t, std::uint64_t) override { return false; }
    } stopper;
    const std::string base = samples::noise(1000, 20);
    const IfBlock if_block = samples::signature(base, 10);
    Matcher blocks(if_block, stopper);
    ck_assert(!blocks.push(as_bytes(base)));
    Matcher literals(if_block, stopper);
    ck_assert(!literals.push(as_bytes(samples::noise(1000, 21))));
}
END_TEST

}  // namespace

int main() {
    return run_suite("matcher",
                     {as_the_plain_loop, blocks_that_come_again_and_again, the_last_block, a_page_shorter_than_a_block,
                      long_stretches_run_in_lanes, two_hits_in_one_stretch_come_in_order, flush_keeps_less_than_a_block,
                      flush_just_before_the_end_finds_the_last_block, a_listener_that_stops});
}
