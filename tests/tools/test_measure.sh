#!/usr/bin/env bash
# tools/measure.sh: refusals, and a file of a tiny matrix, measured and compressed.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
export SPBENCH=${1:-$root/spbench} MKL_RT=/no/such/libmkl_rt.so
SPBENCH=$(realpath "$SPBENCH")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# shellcheck source=tests/lib/checks.sh
. "$root/tests/lib/checks.sh"

# measure STATUS TEXT ARGUMENT...: measure.sh with these arguments ends with STATUS and prints TEXT.
measure() {
    local status=$1 text=$2 said rc
    shift 2
    said=$("$root/tools/measure.sh" "$@" 2>&1)
    rc=$?
    if [ "$rc" = "$status" ] && [[ $said == *"$text"* ]]; then return 0; fi
    echo "status $rc: $said"
    return 1
}

quick=(-q -reps 1 -warmup 1 "$root/tests/data/cli_tiny.mtx")
check 'usage' measure 2 'usage: tools/measure.sh FILE OUT ARGUMENT...' race "$out"
check 'an unknown file' measure 2 'no such record file' none "$out" "${quick[@]}"
check 'a missing matrix' measure 3 'no/such.mtx' race "$out" no/such.mtx
check 'a measurement' measure 0 '' race "$out" "${quick[@]}"
check 'it leaves one file' [ "$(ls "$out")" = race.jsonl.gz ]
zcat "$out/race.jsonl.gz" >"$out/plain"
for op in spmm sddmm spgemm; do
    check "it has $op" grep -q "\"status\":\"ok\".*\"op\":\"$op\"" "$out/plain"
done
check 'a file that is there' measure 2 'remove it to measure again' race "$out" "${quick[@]}"

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
