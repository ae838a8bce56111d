// The tool's unfinished output file, which a signal that ends the tool takes with it. There is one at most.
#pragma once

#include <string>

namespace crcsync::tool {

// From main(), once: SIGHUP, SIGINT, SIGPIPE and SIGTERM remove the unfinished file, and end the tool as they would
// anyway; one that is ignored stays so. A file that may not grow is an error of the write, not a signal.
void watch_for_signals();

// Makes a file from `name`, as mkstemp() does, and notes it. `name` must stay where it is until the file is finished.
// The descriptor, or -1 with errno.
int make_unfinished(std::string& name);

// The file is in its place, or removed.
void forget_unfinished();

}  // namespace crcsync::tool
