// Text for JSON.
#pragma once

#include <string>
#include <string_view>

namespace crcsync::tool {

// `text` as a JSON string, in quotes. A byte that is no part of UTF-8 (a file's name may be anything) becomes U+FFFD.
std::string json_string(std::string_view text);

}  // namespace crcsync::tool
