#!/bin/bash
# The long tests: every module test that has a full size (it calls soak()), in that size.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"

usage() {
    cat <<'END'
usage: build/soak.sh [OPTION]...

Builds into _out/, then runs the module tests that call soak() in their full sizes: bodies of 2 GB, a million requests,
a thousand restarts, readers of 10 kB/s for ten minutes. Two run at a time, so that the ones that mostly wait cost
nothing. It takes under 90 minutes on two cores, some GB of memory, and 12 GB of disk below TMPDIR. What each test
printed stays in _out/soak/.

  --only REGEX   only tests whose names (pair/memory.t) match
  --jobs N       how many run at a time (default: 2)
  --fast         the sizes that ctest runs: to try this script
  --list         only lists the tests
  --help         this text

Last comes a table of results, and one of the figures that the tests have reported. Exit status: 0 if all passed. One run at
a time works in a tree: where another one is (build/test.sh too), this ends at once with status 75 and says by whom the tree
is in use.
END
}

only=. jobs=2 size=1 list=""
while [ $# -gt 0 ]; do
    case "$1" in
    --only) only=$2 && shift ;;
    --jobs) jobs=$2 && shift ;;
    --fast) size="" ;;
    --list) list=yes ;;
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

# Found by what they call, so that no list can miss one.
mapfile -t names < <(grep -lE '\bsoak\(' t/*/*.t | sed 's,^t/,,' | grep -E "$only")
if [ ${#names[@]} -eq 0 ]; then
    echo "build/soak.sh: no such test: $only" >&2
    exit 2
fi
if [ -n "$list" ]; then
    printf '%s\n' "${names[@]}"
    exit 0
fi

# shellcheck source=build/lib/tree_lock.sh
. build/lib/tree_lock.sh
lock_tree build/soak.sh

# shellcheck source=build/packages.sh
. build/packages.sh
install_packages build test
log=$(cmake --preset default 2>&1) || { echo "$log"; exit 1; }
cmake --build --preset default

results=_out/soak
rm -rf "$results"
mkdir -p "$results"

# Runs one test, for an hour at most; a line in the table.
run_one() {
    local name=$1 out began status=0
    out=$results/${name//\//.}.log
    began=$(date +%s)
    CRCSYNC_SOAK=$size timeout 3600 t/TEST --build _out/default --verbose "$name" >"$out" 2>&1 || status=$?
    # A test that is skipped as a whole has shown nothing.
    if [ "$status" -ne 0 ]; then
        status=FAILED
    elif grep -q 'skipped' "$out" && ! grep -q '^ok ' "$out"; then
        status=skipped
    else
        status=passed
    fi
    printf '%-36s %-8s %6d s %8d checks\n' "$name" "$status" $(($(date +%s) - began)) "$(grep -c '^ok ' "$out")" |
        tee -a "$results/table"
}
export -f run_one
export results size

printf 'soak of %s, %s, %s tests, %s at a time\n\n' "$(git describe --always --dirty 2>/dev/null || echo '?')" \
    "$(date -u '+%Y-%m-%d %H:%M UTC')" "${#names[@]}" "$jobs"
began=$(date +%s)
printf '%s\0' "${names[@]}" | xargs -0 -P "$jobs" -I{} bash -c 'run_one "$1"' run_one {} || true

printf '\n== figures\n'
for out in "$results"/*.log; do
    sed -n 's/^# figure: //p' "$out"
done
printf '\n== results\n'
sort "$results/table"
printf '\n%d minutes\n' $((($(date +%s) - began + 59) / 60))
if [ "$(grep -c ' passed ' "$results/table")" -ne ${#names[@]} ]; then
    printf '\n== what failed or was skipped (all of it is in %s)\n' "$results"
    grep -E '^not ok|skipped' "$results"/*.log || true
    exit 1
fi
