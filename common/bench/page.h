// The built-in pages that are measured: deterministic, and as compressible as real ones.
#pragma once

#include <cstddef>
#include <string>

namespace crcsync::bench {

inline constexpr std::size_t page_size = 84240;  // the page of the 2009 measurements

// `size` bytes of marked-up text; another seed, another page.
std::string make_page(std::size_t size, unsigned seed);

// `page` with `edits` short changes spread over it.
std::string edit_page(std::string page, unsigned edits);

}  // namespace crcsync::bench
