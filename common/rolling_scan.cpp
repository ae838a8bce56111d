#include "rolling_scan.h"

#include <algorithm>

#include "crc64.h"
#include "polynomial.h"

namespace crcsync {

namespace {

// Below this many windows, starting three more lanes costs more than they save.
constexpr std::size_t min_lane = 64;

// A stretch that is scanned at a time. A hit early in it throws away what the later lanes have done: so not too long.
constexpr std::size_t max_stretch = 16 * 1024;

}  // namespace

RollingScan::RollingScan(std::uint64_t block, const HashIndex& index)
    : block_(block), index_(index), x_block_(polynomial::x_to_the(8 * block)) {
    leaving_table_[0] = 0;
    for (unsigned bit = 1; bit < 256; bit <<= 1) {
        leaving_table_[bit] = polynomial::multiply(polynomial::crc_of_byte[bit], x_block_);
        for (unsigned b = 1; b < bit; ++b) leaving_table_[bit + b] = leaving_table_[bit] ^ leaving_table_[b];
    }
}

inline std::uint64_t RollingScan::step(std::uint64_t crc, const std::uint8_t* leaving) const {
    return polynomial::crc_of_byte[(crc ^ leaving[block_]) & 255] ^ (crc >> 8) ^ leaving_table_[*leaving];
}

std::size_t RollingScan::advance(const std::uint8_t* data, std::size_t count, std::uint64_t& crc) const {
    // Stretches grow, so that matches that follow each other closely do not pay for long ones.
    std::size_t done = 0;
    for (std::size_t stretch = lanes * 4 * min_lane; done < count; stretch = std::min(2 * stretch, max_stretch)) {
        const std::size_t part = std::min(stretch, count - done);
        const std::size_t hit = part < lanes * min_lane ? advance_one_lane(data + done, part, crc)
                                                        : advance_four_lanes(data + done, part, crc);
        if (hit != 0) return done + hit;
        done += part;
    }
    return 0;
}

std::size_t RollingScan::advance_one_lane(const std::uint8_t* data, std::size_t count, std::uint64_t& crc) const {
    std::uint64_t c = crc;
    for (std::size_t i = 0; i < count; ++i) {
        c = step(c, data + i);
        if (index_.may_contain(c) && index_.find(c)) {
            crc = c;
            return i + 1;
        }
    }
    crc = c;
    return 0;
}

std::size_t RollingScan::advance_four_lanes(const std::uint8_t* data, std::size_t count, std::uint64_t& crc) const {
    const std::size_t length = count / lanes;

    // The window that a lane starts from: afresh, or from the lane before, whichever reads less. The latter follows
    // from linearity: shift the old CRC by `length` bytes, add those that enter, take away those that leave.
    std::array<std::uint64_t, lanes> c{crc};
    const bool afresh = block_ <= 2 * length;
    const std::uint64_t x_length = afresh ? 0 : polynomial::x_to_the(8 * length);
    for (std::size_t lane = 1; lane < lanes; ++lane) {
        const std::uint8_t* start = data + lane * length;
        if (afresh) {
            c[lane] = crc64(0, {start, block_});
        } else {
            c[lane] = polynomial::multiply(c[lane - 1], x_length) ^ crc64(0, {start - length + block_, length}) ^
                      polynomial::multiply(crc64(0, {start - length, length}), x_block_);
        }
    }

    // Hits in a later lane count only if the earlier lanes find nothing up to their ends: so the loop stops at any hit,
    // and the lanes before it are finished one by one.
    std::size_t i = 0;
    std::size_t hit_lane = lanes;
    for (; i < length && hit_lane == lanes; ++i) {
        bool maybe = false;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            c[lane] = step(c[lane], data + lane * length + i);
            maybe |= index_.may_contain(c[lane]);
        }
        if (!maybe) continue;
        for (std::size_t lane = 0; lane < hit_lane; ++lane) {
            if (index_.may_contain(c[lane]) && index_.find(c[lane])) hit_lane = lane;
        }
    }
    for (std::size_t lane = 0; lane < hit_lane && hit_lane < lanes; ++lane) {
        const std::size_t hit = advance_one_lane(data + lane * length + i, length - i, c[lane]);
        if (hit != 0) {
            crc = c[lane];
            return lane * length + i + hit;
        }
    }
    if (hit_lane < lanes) {
        crc = c[hit_lane];
        return hit_lane * length + i;
    }

    // The last lane's end is where the remainder, fewer windows than there are lanes, begins.
    crc = c[lanes - 1];
    const std::size_t rest = advance_one_lane(data + lanes * length, count - lanes * length, crc);
    return rest == 0 ? 0 : lanes * length + rest;
}

}  // namespace crcsync
