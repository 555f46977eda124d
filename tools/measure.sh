#!/usr/bin/env bash
# Measures one record file of a device's folder: OUT/FILE.jsonl, then OUT/FILE.jsonl.gz.
#
# usage: tools/measure.sh FILE OUT ARGUMENT...
#   FILE      spmm sddmm spgemm     auto, its candidates and cuSPARSE, on a GPU
#             half half_spgemm      values of 16 bits, on a GPU
#             papers papers_spgemm  every algorithm of a GPU, k = 64, A*A
#             race                  the algorithms of the CPU beside MKL
#   OUT       a folder such as results/h200
#   ARGUMENT  matrices and more options of `spbench sweep`: -cusparse FILE, -threads N
#
# The same command continues an interrupted measurement. SPBENCH names the program (./spbench).
# Example: tools/measure.sh spmm results/h200 -cusparse libcusparse.so.12 matrices gen:fem:28
set -u
[ $# -ge 3 ] || { sed -n '/^# usage/,/^# Example/s/^# \{0,1\}//p' "$0"; exit 2; }
file=$1 out=$2
shift 2
rest=("$@") status=0
if [ -e "$out/$file.jsonl.gz" ]; then
    echo "$out/$file.jsonl.gz is there; remove it to measure again" >&2
    exit 2
fi

# Runs a sweep into the file. Status 1 means that a case failed: its record has the reason.
measure() {
    "${SPBENCH:-./spbench}" sweep -o "$out/$file.jsonl" "$@" "${rest[@]}"
    local rc=$?
    [ $rc -le 1 ] || exit $rc
    [ $rc -eq 0 ] || status=$rc
}
vendor=cusparse,cusparse-alg1,cusparse-alg2,cusparse-alg3

case $file in
spmm)
    measure -device cuda -time-limit 0.01 -alg 'auto,graded,rowsplit,cusparse*' -prec f32 -k 32,128
    measure -device cuda -time-limit 0.01 -alg 'auto,graded,rowsplit,cusparse*' -prec f64 -k 64
    ;;
sddmm)
    measure -device cuda -time-limit 0.01 -op sddmm -alg 'auto,balanced,aspt,cusparse*' -prec f32 -k 32,128
    measure -device cuda -time-limit 0.01 -op sddmm -alg 'auto,balanced,aspt,cusparse*' -prec f64 -k 64
    ;;
spgemm)
    measure -device cuda -time-limit 0.012 -op spgemm -alg "auto,hash-tuned,tile-tuned,hash,$vendor" -prec f64
    ;;
half)
    measure -device cuda -time-limit 0.02 -op spmm -alg 'auto,cusparse*' -prec f16,bf16-f32 -k 64,128
    measure -device cuda -time-limit 0.02 -op spmm -alg 'auto,cusparse*' -prec f32 -k 64,128
    measure -device cuda -time-limit 0.02 -op sddmm -alg 'auto,cusparse*' -prec f16 -k 64,128
    ;;
half_spgemm)
    measure -device cuda -time-limit 0.02 -op spgemm -alg "tsparse,tile*,$vendor" -prec f16-f32,f16
    ;;
papers)
    measure -device cuda -time-limit 0.05 -op spmm -layout row,col -k 64
    measure -device cuda -time-limit 0.05 -op spmm -layout col -k 64 -prec f64 -alg 'naive,graded,cusparse*'
    measure -device cuda -time-limit 0.05 -op sddmm -k 64
    ;;
papers_spgemm)
    measure -device cuda -time-limit 0.3 -op spgemm -prec f64
    ;;
race)
    measure -device cpu -time-limit 0.1 -alg bundled,rowsplit,merge,aspt,csb,taco,mkl -prec f32 -k 32,128
    measure -device cpu -time-limit 0.1 -alg bundled,rowsplit,merge,aspt,csb,taco,mkl -prec f64 -k 64
    measure -device cpu -time-limit 0.05 -op sddmm -alg balanced,aspt,taco -prec f32,f64 -k 32,128
    measure -device cpu -time-limit 0.1 -op spgemm -alg onepass,gustavson,hash,tile,mkl -prec f32,f64
    ;;
*)
    echo "$file: no such record file; see $0" >&2
    exit 2
    ;;
esac
gzip -9n "$out/$file.jsonl"
exit $status
