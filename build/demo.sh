#!/bin/bash
# The demo, complete in itself. Installs the Debian packages that it needs, builds the modules into _out/demo, and runs
# build/demo/demo.pl: an origin, the two proxies, a slow link, a table. `build/demo.sh --help` lists the options.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$top/_out/demo

# shellcheck source=build/packages.sh
. "$top/build/packages.sh"

build() {
    cmake -G Ninja -S "$top" -B "$out" -DCRCSYNC_TESTS=OFF -DCRCSYNC_BENCH=OFF && nice cmake --build "$out"
}

case " $* " in
*" --help "* | *" --modules"*) ;;
*)
    install_packages build demo
    echo "Building into $out ..."
    mkdir -p "$out"
    # Two demos at once build one after the other.
    exec {lock}>"$out/demo.lock"
    flock "$lock"
    build >"$out/demo.log" 2>&1 || {
        tail -n 50 "$out/demo.log" >&2
        echo "The build failed; all of its output is in $out/demo.log" >&2
        exit 1
    }
    exec {lock}>&-
    set -- --modules "$out" "$@"
    ;;
esac

exec perl "$top/build/demo/demo.pl" "$@"
