#!/bin/bash
# Everything that must be green: packages, format, build, lint, unit tests plain and under sanitizers, module tests.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"

usage() {
    cat <<'END'
usage: build/test.sh [OPTION]...

Builds into _out/ and runs all tests. On a fresh Debian 12, as root, it installs what it needs first.

  --only REGEX   only the tests whose names match (as ctest -R), without format, lint and sanitizers
  --asan         the module tests too run under AddressSanitizer and UndefinedBehaviorSanitizer, built into _out/asan
  --valgrind     the unit tests of the core too run under valgrind's memcheck
  --mpm NAME     event (default), worker or prefork for the servers of the module tests
  --no-lint      leaves out clang-format and clang-tidy
  --list         only lists the tests
  --jobs N       how much runs at a time (default: as many as there are processors)
  --help         this text

One run at a time works in a tree: where another one is (build/soak.sh too), this ends at once with status 75 and says by
whom the tree is in use.
Exit status: 0 if all passed. One module test, with its output: t/TEST --build _out/default GROUP/FILE.t
END
}

only="" asan="" valgrind="" lint=yes list="" jobs=$(nproc)
while [ $# -gt 0 ]; do
    case "$1" in
    --only) only=$2 && shift ;;
    --asan) asan=yes ;;
    --valgrind) valgrind=yes ;;
    --mpm)
        case "${2-}" in
        event | worker | prefork) export CRCSYNC_MPM=$2 && shift ;;
        *) usage >&2 && exit 2 ;;
        esac
        ;;
    --no-lint) lint="" ;;
    --list) list=yes ;;
    --jobs) jobs=$2 && shift ;;
    --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done

# shellcheck source=build/lib/tree_lock.sh
. build/lib/tree_lock.sh
lock_tree build/test.sh

# shellcheck source=build/packages.sh
. build/packages.sh
install_packages build test

step() { printf '\n== %s\n' "$1"; }
sources() { find common mod_crccache_server mod_crccache_client t -name '*.h' -o -name '*.cpp' | sort; }

step "build"
log=$(cmake --preset default 2>&1) || { echo "$log"; exit 1; }
if [ -n "$list" ]; then
    ctest --test-dir _out/default -N
    exit 0
fi
cmake --build --preset default -j "$jobs"

if [ -n "$lint" ] && [ -z "$only" ]; then
    step "clang-format"
    sources | xargs clang-format-14 --dry-run -Werror
    step "clang-tidy"
    # Only what the build compiles: a file that is not in compile_commands.json has no flags.
    sources | grep '\.cpp$' | while read -r file; do
        grep -q "$top/$file\"" _out/default/compile_commands.json && echo "$file"
    done | xargs -n 1 -P "$jobs" clang-tidy-14 --quiet -p _out/default 2>/dev/null
fi

if [ -z "$only" ]; then
    step "unit tests under AddressSanitizer and UndefinedBehaviorSanitizer"
    cmake --preset sanitize >/dev/null
    cmake --build --preset sanitize -j "$jobs"
    ctest --preset sanitize -j "$jobs"
fi

if [ -z "$only" ]; then
    step "what threads share, under ThreadSanitizer"
    cmake -G Ninja -S . -B _out/tsan -DCRCSYNC_SANITIZE=thread -DCRCSYNC_BENCH=OFF >/dev/null
    cmake --build _out/tsan -j "$jobs" --target shared_state_test
    ctest --test-dir _out/tsan -R shared_state_test --output-on-failure --no-tests=error
fi

if [ -n "$valgrind" ]; then
    step "unit tests under valgrind"
    # The tests' own process looks at its memory, not a child of each test; Check's limits of time are for the plain run.
    for test in _out/default/t/unit/*_test; do
        echo "$test"
        CK_FORK=no CK_TIMEOUT_MULTIPLIER=100 valgrind -q --error-exitcode=1 --leak-check=full \
            --errors-for-leak-kinds=definite "$test" >_out/valgrind.log 2>&1 || { cat _out/valgrind.log; exit 1; }
    done
fi

if [ -n "$asan" ]; then
    step "module tests under sanitizers"
    cmake -G Ninja -S . -B _out/asan -DCRCSYNC_SANITIZE=address,undefined -DCRCSYNC_BENCH=OFF >/dev/null
    cmake --build _out/asan -j "$jobs"
    ctest --test-dir _out/asan -L httpd -j "$jobs" --output-on-failure ${only:+-R "$only"} --no-tests=error
fi

step "all tests"
ctest --preset default -j "$jobs" ${only:+-R "$only"} --no-tests=error
