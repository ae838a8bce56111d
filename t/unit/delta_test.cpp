// Whole deltas: written and read again, cut everywhere, flushed, and compared with one zlib stream.
#include <zlib.h>

#include "samples.h"
#include "suite.h"

using namespace crcsync;
using samples::decode;
using samples::delta;
using samples::edit;
using samples::expect_same;
using samples::noise;
using samples::round_trip;
using samples::signature;
using samples::text;

namespace {

START_TEST(pages_come_back) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        const std::string base = text(1000 + seed * 531, seed);
        round_trip(base, edit(base, seed, seed), 1 + seed * 5);
    }
    const std::string base = text(5000, 1);
    for (const std::string& page : {std::string(), std::string("x"), base, base + base, noise(100000, 5),
                                    std::string(300000, '\0'), text(500000, 6)}) {
        round_trip(base, page, 40);
    }
    round_trip("b", "b", 1);
    round_trip("ab", "ba", 2);
}
END_TEST

START_TEST(an_unchanged_page_costs_two_bytes_a_block) {
    const std::string base = text(84240, 2);
    ck_assert_uint_eq(round_trip(base, base, 40).size(), 2 * 40 + 21);
    ck_assert_uint_eq(round_trip(base + "tail", base + "tail", 40).size(), 2 * 40 + 21);
    ck_assert_uint_eq(round_trip(base, "", 40).size(), 21);
}
END_TEST

// C16
START_TEST(the_delta_does_not_depend_on_cuts) {
    const std::string base = text(200000, 3);
    const std::string page = noise(70000, 4) + text(150000, 5) + edit(base, 20, 6) + text(130000, 7) + noise(66000, 8);
    const IfBlock if_block = signature(base, 100);
    for (const std::size_t buffer : {std::size_t{1000}, std::size_t{65536}}) {
        EncoderOptions options;
        options.buffer_size = buffer;
        const std::string whole = delta(if_block, page, 0, options);
        for (const std::size_t piece : {1, 13, 999, 1000, 1001, 8000, 65535, 65536, 65537}) {
            ck_assert_msg(delta(if_block, page, piece, options) == whole, "pieces of %zu", piece);
        }
        const samples::Decoded decoded = decode(if_block, base, whole);
        ck_assert(decoded.status == Status::ok);
        expect_same(decoded.instance, page);
    }
}
END_TEST

// C15
START_TEST(a_delta_decodes_the_same_however_it_is_cut) {
    const std::string base = text(3000, 9);
    const std::string page = noise(40, 10) + edit(base, 6, 11);
    const IfBlock if_block = signature(base, 20);
    const std::string made = delta(if_block, page);
    for (std::size_t piece = 1; piece < 40; ++piece) {
        const samples::Decoded decoded = decode(if_block, base, made, piece);
        ck_assert(decoded.status == Status::ok);
        expect_same(decoded.instance, page);
    }
    // Two pieces, with the cut at every place.
    MemoryBase memory(as_bytes(base));
    for (std::size_t cut = 0; cut <= made.size(); ++cut) {
        StringSink out;
        const auto decoder = make_decoder(if_block, memory, {}, out);
        ck_assert(decoder->push(as_bytes(made).first(cut)) == Status::ok);
        ck_assert(decoder->push(as_bytes(made).subspan(cut)) == Status::ok);
        ck_assert(decoder->finish() == Status::ok);
        expect_same(out.text(), page);
    }
}
END_TEST

// C14
START_TEST(flush_sends_what_is_decided) {
    const std::string base = text(20000, 12);
    const std::string page = edit(base, 10, 13) + text(3000, 14) + noise(3000, 15);
    const IfBlock if_block = signature(base, 40);
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{4096}}) {
        MemoryBase memory(as_bytes(base));
        StringSink wire;
        StringSink out;
        const auto encoder = make_encoder(if_block, {}, wire);
        const auto decoder = make_decoder(if_block, memory, {}, out);
        for (std::size_t at = 0; at < page.size(); at += step) {
            const std::string piece = page.substr(at, step);
            ck_assert(encoder->push(as_bytes(piece)) == Status::ok);
            ck_assert(encoder->flush() == Status::ok);
            ck_assert(encoder->flush() == Status::ok);
            ck_assert(decoder->push(as_bytes(wire.take())) == Status::ok);
            // The reader's side has all but less than one block.
            ck_assert_uint_lt(at + piece.size() - out.text().size(), if_block.layout.normal());
        }
        ck_assert(encoder->finish() == Status::ok);
        ck_assert(decoder->push(as_bytes(wire.take())) == Status::ok);
        ck_assert(decoder->finish() == Status::ok);
        expect_same(out.text(), page);
    }
}
END_TEST

std::size_t zlib_size(const std::string& page) {
    uLongf size = compressBound(page.size());
    std::string out(size, '\0');
    ck_assert(compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(page.data()),
                        page.size(), 6) == Z_OK);
    return size;
}

std::string repeated(const std::string& piece, unsigned times) {
    std::string all;
    for (unsigned i = 0; i < times; ++i) all += piece;
    return all;
}

START_TEST(a_delta_without_matches_is_hardly_larger_than_one_stream) {
    const IfBlock if_block = signature(text(50000, 16), 40);
    const std::string pages[] = {noise(10, 1),
                                 noise(65535, 2),
                                 noise(65536, 3),
                                 noise(65537, 4),
                                 noise(500000, 5),
                                 std::string(70000, 'x'),
                                 std::string(900000, 'y'),
                                 noise(65536, 6) + std::string(300000, 'z'),
                                 std::string(65536, 'z') + noise(300000, 7),
                                 text(100, 8),
                                 text(65536, 9),
                                 text(1000000, 10),
                                 noise(65536, 11) + repeated(noise(65536, 11).substr(50000), 5),
                                 noise(65536, 13) + text(3000, 14) + noise(70000, 15)};
    for (const std::string& page : pages) {
        // The pages' words stand in the base too, but whole blocks of it do not.
        const std::size_t got = delta(if_block, page).size();
        const std::size_t stream = zlib_size(page);
        ck_assert_msg(got <= stream + stream / 100 + 64, "%zu bytes, %zu as one stream, page of %zu", got, stream,
                      page.size());
    }
}
END_TEST

START_TEST(literals_take_the_shorter_form) {
    const IfBlock if_block = signature(noise(5000, 17), 5);
    ck_assert_int_eq(delta(if_block, noise(1000, 18))[0], 'L');
    ck_assert_uint_eq(delta(if_block, noise(1000, 18)).size(), 5 + 1000 + 21);
    ck_assert_int_eq(delta(if_block, text(1000, 19))[0], 'Z');
    EncoderOptions uncompressed;
    uncompressed.compression_level = 0;
    ck_assert_uint_eq(delta(if_block, text(1000, 19), 0, uncompressed).size(), 5 + 1000 + 21);
    ck_assert_uint_eq(delta(if_block, text(200000, 20), 0, uncompressed).size(), 4 * 5 + 200000 + 21);
}
END_TEST

START_TEST(a_sink_that_stops) {
    class Stopper final : public Sink {
    public:
        explicit Stopper(std::size_t room) : room_(room) {}
        bool write(Bytes bytes) override {
            ck_assert_msg(!stopped_, "written to after it had stopped");
            stopped_ = bytes.size() > room_;
            room_ -= stopped_ ? 0 : bytes.size();
            return !stopped_;
        }

    private:
        std::size_t room_;
        bool stopped_ = false;
    };
    const std::string base = text(20000, 21);
    const IfBlock if_block = signature(base, 40);
    const std::string page = edit(base, 10, 22);
    const std::string made = delta(if_block, page);
    for (std::size_t room = 0; room < made.size(); room += 11) {
        Stopper stopper(room);
        const auto encoder = make_encoder(if_block, {}, stopper);
        Status status = encoder->push(as_bytes(page));
        if (status == Status::ok) status = encoder->finish();
        ck_assert(status == Status::sink_failed);

        MemoryBase memory(as_bytes(base));
        Stopper reader(room);
        const auto decoder = make_decoder(if_block, memory, {}, reader);
        status = decoder->push(as_bytes(made));
        ck_assert(status == Status::sink_failed || (status == Status::ok && room >= page.size()));
    }
}
END_TEST

START_TEST(what_was_counted_is_what_was_sent) {
    const std::string base = text(20000, 23);
    const IfBlock if_block = signature(base, 40);
    const std::string page = edit(base, 5, 24);
    StringSink wire;
    const auto encoder = make_encoder(if_block, {}, wire);
    ck_assert(encoder->push(as_bytes(page)) == Status::ok);
    ck_assert(encoder->finish() == Status::ok);
    const EncoderStats sent = encoder->stats();
    const samples::Decoded got = decode(if_block, base, wire.text());
    ck_assert_uint_eq(sent.blocks, got.stats.blocks);
    ck_assert_uint_eq(sent.literal_bytes, got.stats.literal_bytes);
    ck_assert_uint_eq(sent.instance_bytes, got.stats.instance_bytes);
    ck_assert_uint_eq(sent.delta_bytes, got.stats.delta_bytes);
    ck_assert_uint_eq(got.stats.literal_delta_bytes + 2 * got.stats.blocks + 21, got.stats.delta_bytes);
}
END_TEST

START_TEST(only_version_1_has_codecs) {
    IfBlock if_block = signature(text(1000, 25), 4);
    if_block.version = 2;
    StringSink out;
    MemoryBase base({});
    ck_assert_ptr_null(make_encoder(if_block, {}, out).get());
    ck_assert_ptr_null(make_decoder(if_block, base, {}, out).get());
}
END_TEST

}  // namespace

int main() {
    return run_suite("delta",
                     {pages_come_back, an_unchanged_page_costs_two_bytes_a_block, the_delta_does_not_depend_on_cuts,
                      a_delta_decodes_the_same_however_it_is_cut, flush_sends_what_is_decided,
                      a_delta_without_matches_is_hardly_larger_than_one_stream, literals_take_the_shorter_form,
                      a_sink_that_stops, what_was_counted_is_what_was_sent, only_version_1_has_codecs});
}
