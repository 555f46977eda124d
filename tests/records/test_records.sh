#!/usr/bin/env bash
# Records of real runs against the schema: test_records.sh SPBENCH... runs each program on small cases of
# every kind that it can make, and hands what it wrote to check_records.py. The records of all programs
# together have every field that is promised.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=python3
python3 -c 'import jsonschema' 2>/dev/null || python=/usr/bin/python3

files=()
# run STATUS OPTION...: one run into a file of its own, which must end so.
run() {
    local want=$1 file=$work/${#files[@]}.jsonl got
    shift
    "$binary" "$@" -q -o "$file" 2>"$work/err"
    got=$?
    files+=("$file")
    [ "$got" -eq "$want" ] && return
    echo "FAILED: $binary $*: exit status $got, not $want: $(head -n 1 "$work/err")"
    bad=1
}

bad=0
# beside OPTION...: four runs at a time into one file.
beside() {
    local file=$work/${#files[@]}.jsonl seed pid pids=()
    for seed in 1 2 3 4; do
        "$binary" "$@" -seed "$seed" -q -append -o "$file" 2>"$work/err.$seed" &
        pids+=($!)
    done
    files+=("$file")
    for pid in "${pids[@]}"; do
        wait "$pid" && continue
        echo "FAILED: $binary $*: one of several at a time: $(head -qn 1 "$work"/err.?)"
        bad=1
    done
}

for binary; do
    run 0 -alg all -k 1,7 -prec f32,f64 -layout row,col -reps 2 gen:rmat:6:4 "$here/data/cli_tiny.mtx"
    run 0 -alg 'all,cusparse*' -device cpu -k 3 -reps 2 "$here/data/cli_pattern.mtx"
    run 0 -alg merge -check sample -cache cold -time-limit 0.1 gen:skew:300:3:200
    run 0 -alg 'row*' -k 1 -launch stream -warmup 2 -reps 6 "$here/data/cli_tiny.mtx"
    run 0 -alg 'sellp,heuristic' -check off -opt slice=8,pad=2 -reps 2 - <"$here/data/cli_tiny.mtx"
    run 1 -alg merge -device cpu -k 2147483647,2 -reps 2 gen:aspect:2:60000
    NCU=$here/cli/fake_ncu.sh run 0 -counters -alg all -k 3 -reps 2 "$here/data/cli_tiny.mtx"
    run 0 -op sddmm -k 1,7 -prec f32,f64 -reps 2 gen:rmat:6:4 "$here/data/cli_tiny.mtx"
    run 0 -op spgemm -prec f32,f64 -reps 2 gen:rmat:6:4 "$here/data/cli_tiny.mtx" gen:aspect:4:20
    run 0 -op spgemm -device cpu -mul aat -check sample -reps 2 gen:skew:300:3:200 gen:aspect:4:20
    run 0 -op spgemm -check off -reps 2 gen:stencil:8
    run 3 -op spgemm -prec f32,f64 -reps 2 "$here/data/cli_outside.mtx" gen:stencil:8
    run 3 -k 3,4 -layout row,col -reps 2 "$here/data/cli_outside.mtx"
    beside -device cpu -alg merge,rowsplit -reps 2 gen:band:9:1 gen:stencil:8
    run 3 -alg merge -reps 2 "$here/data/cli_outside.mtx" "$here/data/cli_tiny.mtx"
    run 0 -device cpu -alg sellp -opt slice=4,8,pad=2,4 -reps 2 "$here/data/cli_tiny.mtx"
    built=$(dirname "$binary")/tests
    MKL_RT=$built/mkl/libmkl_rt.so run 0 -device cpu -alg mkl -k 3 -reps 2 "$here/data/cli_tiny.mtx"
    run 0 -plugin "$built/plugin/right.so" -device cpu -alg mine -k 3 -reps 2 "$here/data/cli_tiny.mtx"
    file=$work/${#files[@]}.jsonl # it ends with 1 where something would spoil a measurement
    if "$binary" doctor -q -o "$file" >"$work/err" 2>&1 || [ $? -eq 1 ]; then files+=("$file"); else bad=1; fi
    "$binary" -q -device cpu -alg merge -reps 2 -append -o "$file" gen:band:9:1 || bad=1
    "$binary" gen uniform:20000:10 | gzip -1 >"$work/kept.mtx.gz" # is kept, and served
    for _ in 1 2; do
        XDG_CACHE_HOME=$work/cache run 0 -device cpu -alg merge -check off -reps 2 "$work/kept.mtx.gz"
    done
done
"$python" "$here/records/check_records.py" -promised "${files[@]}" >"$work/log"
status=$?
cat "$work/log"
[ "$status" -eq 0 ] && [ "$bad" -eq 0 ]
