// What the client's store keeps beside the bytes: records of bases, and lists of the names that a URL varies on. A
// damaged one is refused, or read as what is written again.
//
// Input: the text.
#include "base_record.h"

#include "fields.h"
#include "hex.h"
#include "target.h"
#include "vary_names.h"

using namespace crcsync;
using namespace crcsync::client;

namespace {

void check_record(std::string_view text) {
    const auto record = BaseRecord::parse(text);
    if (!record) return;
    FUZZ_CHECK(record->size > 0);
    FUZZ_CHECK(record->variant.find(' ') == std::string::npos && record->variant.size() < text.size());
    const std::string formatted = record->format();
    FUZZ_CHECK(formatted.size() <= text.size());
    const auto again = BaseRecord::parse(formatted);
    FUZZ_CHECK(again && again->size == record->size && again->sha1 == record->sha1);
    FUZZ_CHECK(again->variant == record->variant && again->format() == formatted);
}

void check_names(std::string_view text) {
    const VaryNames names = parse_vary_names(text);
    const std::string list = join_names(names);
    FUZZ_CHECK(parse_vary_names(list) == names);
    FUZZ_CHECK(list.size() <= 2 * text.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        FUZZ_CHECK(names[i] == fields::lower_case(names[i]) && fields::is_token(names[i]));
        FUZZ_CHECK(names[i] != "*" && names[i] != "if-block" && names[i] != "accept-encoding");
        FUZZ_CHECK(i == 0 || names[i - 1] < names[i]);
    }
    if (!too_many_names(names)) FUZZ_CHECK(names.size() <= 16 && list.size() <= 512);
}

void check_hex(std::string_view text) {
    const auto bytes = parse_hex<4>(text);
    if (bytes) FUZZ_CHECK(hex(*bytes) == text);
    const std::string digits = hex(as_bytes(text.substr(0, 4)));
    FUZZ_CHECK(parse_hex<4>(digits).has_value() == (text.size() >= 4));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = as_text({data, size});
    check_record(text);
    check_names(text);
    check_hex(text);
    return 0;
}
