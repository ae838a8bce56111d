// How the counters of the two modules find each other: a linked list that hangs on the process pool.
//
// Each module has its own copy of this code, may be of another version, and is unloaded and loaded again at every
// restart. So the list is plain C data that knows nothing of C++ types or code: names, and numbers in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "apache.h"

namespace crcsync {

extern "C" {
// All of it lives as long as the process.
struct crcsync_section {
    crcsync_section* next;
    const char* prefix;        // "CRCSyncServer"
    std::size_t count;         // length of the two arrays
    const char* const* names;  // without prefix; null where a number is not for show
    std::uint64_t* values;     // in shared memory; read and written with atomic operations only
};

struct crcsync_sections {
    crcsync_section* first;
};
}

// The list of this process; made if it is not there yet. Call with `make` only while one thread runs (post_config).
// Null if there is none and `make` is false.
crcsync_sections* find_sections(process_rec* process, bool make);

}  // namespace crcsync
