#!/bin/bash
# How much of the code the tests run: lines and branches, counted by clang's source-based coverage.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"

usage() {
    cat <<'END_OF_USAGE'
usage: build/coverage.sh [OPTION]...

Builds with clang into _out/coverage, runs the unit tests, the tool's test and the fuzz corpora, and prints for each file
of the core the lines and branches that were run. On a fresh Debian 12, as root, it installs what it needs first.

  --uncovered   prints the lines that were not run, instead of the table
  --jobs N      how much runs at a time (default: as many as there are processors)
  --help        this text
END_OF_USAGE
}

uncovered="" jobs=$(nproc)
while [ $# -gt 0 ]; do
    case "$1" in
    --uncovered) uncovered=yes ;;
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

# shellcheck source=build/packages.sh
. build/packages.sh
install_packages build test coverage

out=_out/coverage
flags="-fprofile-instr-generate -fcoverage-mapping"
log=$(cmake -G Ninja -S . -B "$out" -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_BUILD_TYPE=Debug \
    -DCRCSYNC_BENCH=OFF -DCRCSYNC_WERROR=OFF -DCRCSYNC_MODULES=OFF 2>&1) || { echo "$log"; exit 1; }
cmake --build "$out" -j "$jobs"

rm -rf "$out/profiles"
mkdir -m 1777 "$out/profiles"
LLVM_PROFILE_FILE="$top/$out/profiles/%m-%p.profraw" ctest --test-dir "$out" -j "$jobs" --output-on-failure

find "$out/profiles" -name '*.profraw' -size +0 >"$out/profiles/list"
llvm-profdata-14 merge --sparse --failure-mode=all -f "$out/profiles/list" -o "$out/profile"

programs=()
while read -r file; do programs+=("$file"); done < <(
    find "$out/t/unit" "$out/t/fuzz" "$out/common/tool" -maxdepth 1 -type f -perm -u+x
)
# llvm-cov wants the first without a name, and each other as -object.
read_profile=(-instr-profile "$out/profile" "${programs[0]}" "${programs[@]/#/-object=}")
sources=(common/*.cpp common/*.h common/tool/*.cpp common/httpd/fields.cpp)

if [ -n "$uncovered" ]; then
    # A line that was not run has the count 0; of a template or inline function, none of its instances.
    llvm-cov-14 show "${read_profile[@]}" "${sources[@]}" 2>/dev/null |
        grep -E '^/.*:$|^ *[0-9]+\| +0\|' || true
else
    llvm-cov-14 report "${read_profile[@]}" -show-region-summary=false "${sources[@]}" 2>/dev/null
fi
