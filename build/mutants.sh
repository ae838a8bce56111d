#!/bin/bash
# Puts each mutation of t/mutations into a copy of the code, and sees whether the tests notice. See --help.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
exec perl -I"$top/t/lib" "$top/build/mutants.pl" "$top" "$@"
