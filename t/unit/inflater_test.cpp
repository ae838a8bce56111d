// The codings of HTTP bodies: as servers send them, and as they should not.
#include "inflater.h"

#include <zlib.h>

#include "samples.h"
#include "suite.h"

using namespace crcsync;
using Format = Inflater::Format;

namespace {

constexpr int zlib_bits = 15;
constexpr int gzip_bits = 31;
constexpr int raw_bits = -15;

std::string deflated(const std::string& bytes, int window_bits) {
    z_stream stream{};
    ck_assert(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    ck_assert(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

void expect_inflated(Format format, const std::string& coded, const std::string& bytes) {
    for (const std::size_t piece : {std::size_t{0}, std::size_t{1}, std::size_t{5}}) {
        Inflater inflater(format, UINT64_MAX);
        StringSink out;
        Bytes rest = as_bytes(coded);
        while (!rest.empty()) {
            Bytes part = rest.first(piece == 0 ? rest.size() : std::min(piece, rest.size()));
            rest = rest.subspan(part.size());
            ck_assert(inflater.push(part, out) == Status::ok);
            ck_assert(part.empty());
        }
        ck_assert(inflater.at_end());
        samples::expect_same(out.text(), bytes);
        ck_assert_uint_eq(inflater.produced(), bytes.size());
    }
}

START_TEST(all_formats) {
    for (const std::string& bytes :
         {std::string(), std::string("x"), samples::text(200000, 1), samples::noise(70000, 2)}) {
        expect_inflated(Format::gzip, deflated(bytes, gzip_bits), bytes);
        expect_inflated(Format::deflate, deflated(bytes, zlib_bits), bytes);
        expect_inflated(Format::deflate, deflated(bytes, raw_bits), bytes);
    }
}
END_TEST

START_TEST(gzip_members_follow_each_other) {
    expect_inflated(Format::gzip, deflated("one ", gzip_bits) + deflated("two", gzip_bits), "one two");
    expect_inflated(Format::gzip, deflated("one", gzip_bits) + std::string(10, '\0'), "one");
    expect_inflated(Format::deflate, deflated("one", zlib_bits) + "behind", "one");
}
END_TEST

// C36
// What goes in of a run of one byte, up to the flush of its writer: two bits make 258 bytes.
std::string flushed_run(std::size_t length) {
    const std::string bytes(length, 'x');
    z_stream stream{};
    ck_assert(deflateInit2(&stream, 6, Z_DEFLATED, gzip_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string coded(deflateBound(&stream, length) + 16, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(length);
    stream.next_out = reinterpret_cast<Bytef*>(coded.data());
    stream.avail_out = static_cast<uInt>(coded.size());
    ck_assert(deflate(&stream, Z_SYNC_FLUSH) == Z_OK);
    // The flush's own mark is four bytes; what they would push out must come without them.
    coded.resize(stream.total_out - 4);
    deflateEnd(&stream);
    return coded;
}

// Where the last byte of input ends in the middle of what it stands for, all of it comes out all the same.
START_TEST(output_does_not_wait_for_more_input) {
    for (std::size_t length = 128 * 1024; length < 130 * 1024; length += 13) {
        const std::string coded = flushed_run(length);
        Inflater inflater(Format::gzip, UINT64_MAX);
        StringSink out;
        Bytes in = as_bytes(coded);
        ck_assert(inflater.push(in, out) == Status::ok);
        ck_assert(in.empty());
        samples::expect_same(out.text(), std::string(length, 'x'));
        ck_assert(!inflater.at_end());
    }
}
END_TEST

START_TEST(a_stream_that_is_cut_is_not_at_its_end) {
    for (const auto& [format, bits] : {std::pair(Format::gzip, gzip_bits), std::pair(Format::deflate, zlib_bits)}) {
        const std::string coded = deflated(samples::text(1000, 3), bits);
        for (std::size_t size = 0; size < coded.size(); ++size) {
            Inflater inflater(format, UINT64_MAX);
            StringSink out;
            Bytes part = as_bytes(coded).first(size);
            ck_assert(inflater.push(part, out) == Status::ok);
            ck_assert(!inflater.at_end());
        }
    }
    // In the second member's header.
    const std::string two = deflated("one", gzip_bits) + deflated("two", gzip_bits).substr(0, 5);
    Inflater inflater(Format::gzip, UINT64_MAX);
    StringSink out;
    Bytes part = as_bytes(two);
    ck_assert(inflater.push(part, out) == Status::ok);
    ck_assert(!inflater.at_end());
}
END_TEST

START_TEST(bad_data) {
    for (const Format format : {Format::zlib, Format::gzip, Format::deflate}) {
        Inflater inflater(format, UINT64_MAX);
        StringSink out;
        const std::string garbage(100, '\xff');
        Bytes part = as_bytes(garbage);
        ck_assert(inflater.push(part, out) == Status::corrupt_delta);
    }
}
END_TEST

// C36
START_TEST(the_limit) {
    const std::string bytes(5'000'000, 'x');
    const std::string coded = deflated(bytes, gzip_bits);
    for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4'999'999}}) {
        Inflater inflater(Format::gzip, limit);
        StringSink out;
        Bytes part = as_bytes(coded);
        ck_assert(inflater.push(part, out) == Status::too_large);
        ck_assert_uint_le(out.text().size(), limit);
    }
    Inflater inflater(Format::gzip, bytes.size());
    StringSink out;
    Bytes part = as_bytes(coded);
    ck_assert(inflater.push(part, out) == Status::ok);
    ck_assert_uint_eq(out.text().size(), bytes.size());
}
END_TEST

START_TEST(a_zlib_stream_leaves_what_follows) {
    const std::string coded = deflated("literals", zlib_bits) + "B!";
    Inflater inflater(Format::zlib, UINT64_MAX);
    StringSink out;
    Bytes part = as_bytes(coded);
    ck_assert(inflater.push(part, out) == Status::ok);
    ck_assert(inflater.at_end());
    ck_assert_uint_eq(part.size(), 2);
    inflater.reset(100);
    ck_assert(!inflater.at_end());
    const std::string second = deflated("more", zlib_bits);
    part = as_bytes(second);
    ck_assert(inflater.push(part, out) == Status::ok);
    samples::expect_text(out.text(), "literalsmore");
}
END_TEST

}  // namespace

int main() {
    return run_suite("inflater",
                     {all_formats, gzip_members_follow_each_other, output_does_not_wait_for_more_input,
                      a_stream_that_is_cut_is_not_at_its_end, bad_data, the_limit, a_zlib_stream_leaves_what_follows});
}
