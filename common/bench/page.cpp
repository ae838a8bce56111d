#include "page.h"

#include <random>

namespace crcsync::bench {

std::string make_page(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::string page = "<!doctype html>\n";
    while (page.size() < size) {
        // Words of two to nine letters, frequent ones short, now and then a tag or a number.
        const unsigned kind = random() % 16;
        if (kind == 0) {
            page += "</p>\n<p class=\"c" + std::to_string(random() % 9) + "\">";
        } else if (kind == 1) {
            page += std::to_string(random() % 100000) + " ";
        } else {
            std::mt19937 word(random() % (kind < 9 ? 60 : 4000));
            for (unsigned letters = 2 + word() % (kind < 9 ? 4 : 8); letters > 0; --letters) {
                page += "etaoinshrdlucmfwypvbgkqjxz"[word() % 26];
            }
            page += ' ';
        }
    }
    page.resize(size);
    return page;
}

std::string edit_page(std::string page, unsigned edits) {
    for (unsigned i = 0; i < edits; ++i) page.replace((2 * i + 1) * page.size() / (2 * edits), 8, "<!----->");
    return page;
}

}  // namespace crcsync::bench
