// crcsync: the modules' work on files, for a look at what they do and for tests.

#include <cstdio>
#include <cstring>
#include <exception>

#include "commands.h"
#include "unfinished.h"

namespace {

using namespace crcsync::tool;

constexpr const char* help_text =
    "Usage: crcsync COMMAND ...\n"
    "\n"
    "  crcsync signature BASE [--protocol 1] [--blocks N]\n"
    "        the If-Block field value that a client with BASE sends\n"
    "  crcsync delta --if-block VALUE|@FILE NEW [-o DELTA] [--level 0-9] [--buffer BYTES]\n"
    "        what the server module sends for NEW\n"
    "  crcsync patch --if-block VALUE|@FILE BASE DELTA [-o NEW] [--max-instance BYTES]\n"
    "        rebuilds NEW from BASE and DELTA and checks its strong hash\n"
    "  crcsync inspect DELTA [--json]\n"
    "        the sections of DELTA, one a line\n"
    "  crcsync simulate [--protocol 1] [--blocks auto|N] [--max-header BYTES] [--json] VERSION...\n"
    "        a client that fetches each version in turn: what request, delta and gzip -6 cost\n"
    "  crcsync help | --version\n"
    "\n"
    "A file named - is standard input or output. All but NEW of delta and DELTA of patch are\n"
    "read into memory, and may have at most 256 MiB (268435456 bytes).\n"
    "Exit status: 0 done; 1 the input is corrupt or the strong hash differs (nothing is\n"
    "written); 2 wrong usage; 3 an I/O error, or a file that is too long.\n";

struct Command {
    const char* name;
    int (*run)(const Arguments&);
};

constexpr Command commands[] = {
    {"signature", signature_command}, {"delta", delta_command},       {"patch", patch_command},
    {"inspect", inspect_command},     {"simulate", simulate_command},
};

int print(const char* text) {
    return std::fputs(text, stdout) < 0 || std::fflush(stdout) != 0 ? exit_io : exit_done;
}

bool asks_for_help(const char* word) {
    return std::strcmp(word, "--help") == 0 || std::strcmp(word, "-h") == 0;
}

int run(int argc, char** argv) {
    if (argc < 2) throw ToolError(exit_usage, "no command; see crcsync help");
    const char* wanted = argv[1];
    if (std::strcmp(wanted, "help") == 0 || asks_for_help(wanted)) return print(help_text);
    if (std::strcmp(wanted, "--version") == 0) return print("crcsync " CRCSYNC_VERSION "\n");
    if (argc == 3 && asks_for_help(argv[2])) return print(help_text);
    for (const Command& command : commands) {
        if (std::strcmp(wanted, command.name) == 0) return command.run(Arguments(argv + 2, argv + argc));
    }
    throw ToolError(exit_usage, std::string("no command ") + wanted + "; see crcsync help");
}

}  // namespace

int main(int argc, char** argv) {
    watch_for_signals();
    try {
        return run(argc, argv);
    } catch (const ToolError& error) {
        std::fprintf(stderr, "crcsync: %s\n", error.what());
        return error.status;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "crcsync: %s\n", error.what());
        return exit_io;
    }
}
