#!/bin/bash
# Runs the fuzz targets of t/fuzz with libFuzzer, under AddressSanitizer and UndefinedBehaviorSanitizer.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"

usage() {
    cat <<'END_OF_USAGE'
usage: build/fuzz.sh [OPTION]... [MINUTES] [TARGET...]

Builds the fuzz targets into _out/fuzz and runs each for MINUTES (default 5), starting from the committed corpus and from
what earlier runs have left in _out/fuzz/corpus. Prints a table. On a fresh Debian 12, as root, it installs what it needs.

  --merge      afterwards makes t/fuzz/corpus anew: the fewest inputs, old and new, that reach all that is reached
  --jobs N     how many targets run at a time (default: as many as there are processors)
  --list       only lists the targets
  --help       this text

Exit status: 0 without findings, 1 with one; then the input that shows it, and how to run it again, are printed.
END_OF_USAGE
}

minutes=5 merge="" list="" jobs=$(nproc) targets=()
while [ $# -gt 0 ]; do
    case "$1" in
    --merge) merge=yes ;;
    --list) list=yes ;;
    --jobs) jobs=$2 && shift ;;
    --help)
        usage
        exit 0
        ;;
    -*)
        usage >&2
        exit 2
        ;;
    *[!0-9]*) targets+=("$1") ;;
    *) minutes=$1 ;;
    esac
    shift
done

all=()
for file in t/fuzz/*_fuzz.cpp; do all+=("$(basename "$file" .cpp)"); done
[ ${#targets[@]} -gt 0 ] || targets=("${all[@]}")
for target in "${targets[@]}"; do
    if [ ! -e "t/fuzz/$target.cpp" ]; then
        echo "build/fuzz.sh: no target $target; there are: ${all[*]}" >&2
        exit 2
    fi
done
if [ -n "$list" ]; then
    printf '%s\n' "${all[@]}"
    exit 0
fi

# shellcheck source=build/packages.sh
. build/packages.sh
install_packages build fuzz

log=$(cmake --preset fuzz 2>&1) || { echo "$log"; exit 1; }
cmake --build --preset fuzz -j "$jobs" --target "${targets[@]}"

out=_out/fuzz
# A small quarantine: the default, 256 MB, costs most of the speed. Leaks are looked for.
export ASAN_OPTIONS=quarantine_size_mb=16 UBSAN_OPTIONS=print_stacktrace=1
options=(-max_len=9000 -timeout=30 -rss_limit_mb=2048 -print_final_stats=1)

fuzz() {
    local target=$1 dictionary=()
    mkdir -p "$out/corpus/$target" "$out/findings/$target" "t/fuzz/corpus/$target"
    [ ! -e "t/fuzz/$target.dict" ] || dictionary=("-dict=t/fuzz/$target.dict")
    local status=0
    "$out/t/fuzz/$target" "${options[@]}" "${dictionary[@]}" -max_total_time=$((minutes * 60)) \
        "-artifact_prefix=$out/findings/$target/" "$out/corpus/$target" "t/fuzz/corpus/$target" \
        >"$out/$target.log" 2>&1 || status=$?
    echo "$status" >"$out/$target.status"
}

# The value behind `NAME:` in the last line that libFuzzer writes of its progress.
progress() { grep -aE '^#[0-9]+.* cov: ' "$out/$1.log" | tail -n 1 | sed -nE "s/.* $2: ([^ ]+).*/\1/p"; }
statistic() { sed -nE "s/^stat::$2: *([0-9]+).*/\1/p" "$out/$1.log" | tail -n 1; }

printf 'Fuzzing %s for %s minutes each, %s at a time\n' "${targets[*]}" "$minutes" "$jobs"
for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    fuzz "$target" &
done
wait

found=0
printf '\n| target | minutes | executions | a second | edges | features | corpus | findings |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n'
for target in "${targets[@]}"; do
    findings=0
    # The fuzzer stops at its first finding.
    [ "$(cat "$out/$target.status")" = 0 ] || findings=1
    found=$((found + findings))
    printf '| `%s` | %s | %s | %s | %s | %s | %s | %s |\n' "$target" "$minutes" \
        "$(statistic "$target" number_of_executed_units)" "$(statistic "$target" average_exec_per_sec)" \
        "$(progress "$target" cov)" "$(progress "$target" ft)" "$(progress "$target" corp)" "$findings"
done

for target in "${targets[@]}"; do
    [ "$(cat "$out/$target.status")" != 0 ] || continue
    printf '\n%s:\n' "$target"
    grep -aE 'not true:|ERROR|runtime error|SUMMARY' "$out/$target.log" || tail -n 5 "$out/$target.log"
    input=$(sed -nE 's/.*Test unit written to (.*)/\1/p' "$out/$target.log" | tail -n 1)
    [ -z "$input" ] || printf 'the input: %s\nagain: %s %s\n' "$top/$input" "$top/$out/t/fuzz/$target" "$top/$input"
done

if [ -n "$merge" ]; then
    for target in "${targets[@]}"; do
        [ "$(cat "$out/$target.status")" = 0 ] || continue
        rm -rf "$out/merged" && mkdir "$out/merged"
        "$out/t/fuzz/$target" "${options[@]}" -set_cover_merge=1 "$out/merged" "t/fuzz/corpus/$target" \
            "$out/corpus/$target" >"$out/$target.merge.log" 2>&1
        rm -rf "t/fuzz/corpus/$target"
        mv "$out/merged" "t/fuzz/corpus/$target"
        printf '%s: %s files, %s kB\n' "t/fuzz/corpus/$target" "$(find "t/fuzz/corpus/$target" -type f | wc -l)" \
            "$(du -s --apparent-size "t/fuzz/corpus/$target" | cut -f1)"
    done
fi
[ "$found" -eq 0 ]
