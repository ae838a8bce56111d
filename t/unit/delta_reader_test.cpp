// The reader against deltas that no honest writer makes.
#include "delta_reader.h"

#include <zlib.h>

#include "samples.h"
#include "suite.h"

using namespace crcsync;
using samples::decode;
using samples::noise;

namespace {

const std::string base = noise(1000, 1);

const IfBlock& if_block() {
    static const IfBlock made = samples::signature(base, 10);
    return made;
}

std::string hash_section(const std::string& instance) {
    const Sha1Value hash = sha1(as_bytes(instance));
    return "S" + std::string(as_text(hash));
}

std::string literal(const std::string& bytes) {
    std::string section = "L";
    for (int shift = 24; shift >= 0; shift -= 8) section += static_cast<char>(bytes.size() >> shift);
    return section + bytes;
}

std::string compressed(const std::string& bytes) {
    uLongf size = compressBound(bytes.size());
    std::string out(size, '\0');
    ck_assert(compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                       bytes.size()) == Z_OK);
    out.resize(size);
    return "Z" + out;
}

std::string block(unsigned number) {
    return std::string("B") + static_cast<char>(number);
}

void expect(const std::string& made, Status status, const DecoderLimits& limits = {}) {
    for (const std::size_t piece : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
        const samples::Decoded decoded = decode(if_block(), base, made, piece, limits);
        ck_assert_msg(decoded.status == status, "%s instead of %s", name(decoded.status), name(status));
    }
}

START_TEST(the_strong_hash_may_stand_anywhere) {
    const std::string instance = base.substr(300, 100) + "abc" + "defg";
    for (const std::string& made :
         {block(3) + literal("abc") + compressed("defg") + hash_section(instance),
          hash_section(instance) + block(3) + literal("abc") + compressed("defg"),
          block(3) + hash_section(instance) + literal("abcd") + compressed("efg"),
          block(3) + literal("") + compressed("") + compressed("abcdefg") + hash_section(instance)}) {
        expect(made, Status::ok);
    }
    expect(hash_section(""), Status::ok);
}
END_TEST

// C35, C36
START_TEST(faults_of_form) {
    const std::string hash = hash_section("");
    expect("", Status::truncated);
    expect(literal("abc"), Status::truncated);
    expect(hash + hash, Status::corrupt_delta);
    expect("X" + hash, Status::corrupt_delta);
    expect(std::string(1, '\0') + hash, Status::corrupt_delta);
    expect("b" + hash, Status::corrupt_delta);
    expect(block(10) + hash, Status::corrupt_delta);
    expect(block(255) + hash, Status::corrupt_delta);
    expect("Zabcdefgh" + hash, Status::corrupt_delta);
    expect(hash_section("another"), Status::hash_mismatch);
    expect(block(1) + hash_section(base.substr(200, 100)), Status::hash_mismatch);
    // A preset dictionary is no part of the format.
    expect(std::string("Z\x78\xbb\x00\x00\x00\x01", 7) + hash, Status::corrupt_delta);
}
END_TEST

START_TEST(a_wrong_checksum_in_a_stream) {
    std::string made = compressed("some literals");
    made.back() = static_cast<char>(made.back() ^ 1);
    expect(made + hash_section("some literals"), Status::corrupt_delta);
}
END_TEST

// C15, C36
START_TEST(cut_anywhere_it_is_not_whole) {
    const std::string instance = base.substr(300, 100) + "abc" + "defghijk";
    const std::string made = block(3) + literal("abc") + compressed("defghijk") + hash_section(instance);
    for (std::size_t size = 0; size < made.size(); ++size) expect(made.substr(0, size), Status::truncated);
    expect(made, Status::ok);
    ck_assert_uint_eq(decode(if_block(), base, made).stats.sections, 4);
    ck_assert_uint_eq(decode(if_block(), base, made.substr(0, 1)).stats.sections, 0);
    ck_assert_uint_eq(decode(if_block(), base, made.substr(0, made.size() - 1)).stats.sections, 3);
}
END_TEST

// C36
START_TEST(every_flipped_bit_is_noticed) {
    const std::string instance = base.substr(300, 200) + "some literals, not many" + base.substr(900, 100);
    const std::string made =
        block(3) + block(4) + compressed("some literals, ") + literal("not many") + block(9) + hash_section(instance);
    expect(made, Status::ok);
    for (std::size_t bit = 0; bit < made.size() * 8; ++bit) {
        std::string damaged = made;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
        const samples::Decoded decoded = decode(if_block(), base, damaged);
        // zlib's header has bits without a meaning for the reader (the level): then the instance is right all the same.
        ck_assert(decoded.status != Status::ok || decoded.instance == instance);
    }
}
END_TEST

// C36
START_TEST(limits_hold_for_each_kind_of_section) {
    DecoderLimits limits;
    limits.max_instance = 250;
    expect(block(0) + block(1) + hash_section(base.substr(0, 200)), Status::ok, limits);
    expect(block(0) + block(1) + block(2) + hash_section(base.substr(0, 300)), Status::too_large, limits);
    expect(literal(std::string(250, 'x')) + hash_section(std::string(250, 'x')), Status::ok, limits);
    expect(literal(std::string(251, 'x')), Status::too_large, limits);
    expect(compressed(std::string(250, 'x')) + hash_section(std::string(250, 'x')), Status::ok, limits);
    expect(compressed(std::string(251, 'x')), Status::too_large, limits);
    // A literal of 4 GiB is refused by its length, before a byte of it has come.
    expect(std::string("L\xff\xff\xff\xff", 5), Status::too_large);
    // A small stream that would inflate to 5 MB.
    expect(compressed(std::string(5'000'000, '\0')), Status::too_large, limits);
}
END_TEST

// C36
START_TEST(sections_that_give_nothing_have_an_end) {
    DecoderLimits limits;
    limits.max_instance = 64 * 1024;
    const auto repeat = [](const std::string& section, std::size_t count) {
        std::string all;
        while (count-- > 0) all += section;
        return all;
    };
    const std::string hash = hash_section("");
    // At most 64 KiB, a 64th of that, and 64 KiB more.
    expect(repeat(literal(""), 26'000) + hash, Status::ok, limits);
    expect(repeat(literal(""), 27'000) + hash, Status::too_large, limits);
    expect(repeat(compressed(""), 14'000) + hash, Status::ok, limits);
    expect(repeat(compressed(""), 17'000) + hash, Status::too_large, limits);
    // A stream that goes on and on: empty stored blocks.
    expect(std::string("Z\x78\x01") + repeat(std::string("\0\0\0\xff\xff", 5), 27'000), Status::too_large, limits);
    // What is wrong before that is said, whether it comes with the rest or alone.
    expect("x" + std::string(200'000, ' '), Status::corrupt_delta, limits);
    // One literal as long as the limit allows.
    const std::string most(64 * 1024, 'x');
    expect(literal(most) + hash_section(most), Status::ok, limits);
}
END_TEST

// C38
START_TEST(a_base_that_cannot_be_read) {
    class Broken final : public Base {
        std::uint64_t size() const override { return 1000; }
        bool read(std::uint64_t, std::span<std::uint8_t>) override { return false; }
    } broken;
    StringSink out;
    const auto decoder = make_decoder(if_block(), broken, {}, out);
    const std::string made = block(1);
    ck_assert(decoder->push(as_bytes(made)) == Status::base_failed);
    ck_assert(decoder->push(as_bytes(made)) == Status::base_failed);
    ck_assert(decoder->finish() == Status::base_failed);
    IfBlock out_block;
    ck_assert(make_signature(broken, 10, out_block) == Status::base_failed);
}
END_TEST

START_TEST(a_base_in_memory_has_bounds) {
    MemoryBase memory(as_bytes(base));
    std::uint8_t room[10];
    ck_assert(memory.read(990, room));
    ck_assert(!memory.read(991, room));
    ck_assert(!memory.read(UINT64_MAX, room));
    ck_assert(memory.read(1000, std::span(room).first(0)));
}
END_TEST

}  // namespace

int main() {
    return run_suite("delta_reader",
                     {the_strong_hash_may_stand_anywhere, faults_of_form, a_wrong_checksum_in_a_stream,
                      cut_anywhere_it_is_not_whole, every_flipped_bit_is_noticed, limits_hold_for_each_kind_of_section,
                      sections_that_give_nothing_have_an_end, a_base_that_cannot_be_read, a_base_in_memory_has_bounds});
}
