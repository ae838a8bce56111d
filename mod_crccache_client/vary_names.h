// The request fields that select among a URL's variants, as its Vary says. Pure functions on strings: the value comes
// from a peer, or from the store, and any bytes are valid input.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crcsync::client {

// Names of request fields: lower case, sorted, each once.
using VaryNames = std::vector<std::string>;

// From a Vary field's value, or from join_names(). Accept-Encoding is left out, since a base is kept without its
// coding, If-Block because it never selects an instance, `*` and what is no token because they name no field.
VaryNames parse_vary_names(std::string_view vary);

std::string join_names(const VaryNames& names);

// More names than this, or longer ones, and no base is kept.
bool too_many_names(const VaryNames& names);

}  // namespace crcsync::client
