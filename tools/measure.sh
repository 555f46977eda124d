#!/usr/bin/env bash
# Measures one record file of a device's folder: OUT/FILE.jsonl, then OUT/FILE.jsonl.gz.
#
# usage: tools/measure.sh FILE OUT ARGUMENT...
#   FILE      spmm sddmm spgemm  every algorithm of a GPU; bf16-f32: auto and cuSPARSE
#             model              options of tiled, for figures of paper 3, on a GPU
#             sets               the sets of matrices.txt for figures; the list is the ARGUMENT
#             race               the algorithms of the CPU beside MKL
#   OUT       a folder such as results/h100
#   ARGUMENT  matrices and more options of `spbench sweep`: -cusparse FILE, -threads N
#
# The same command continues an interrupted measurement. SPBENCH names the program (./spbench),
# DEVICE the GPUs as in -device (cuda; all: every GPU of the machine).
# Example: tools/measure.sh spmm results/h100 -cusparse libcusparse.so.12 matrices gen:fem:28
set -u
[ $# -ge 3 ] || { sed -n '/^# usage/,/^# Example/s/^# \{0,1\}//p' "$0"; exit 2; }
file=$1 out=$2
shift 2
rest=("$@") status=0 gpus=${DEVICE:-cuda}
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
case $file in
spmm)
    for set in '-prec f32 -k 1,8,32,64,128,256' '-prec f64,f16 -k 64' '-layout col -prec f32,f64 -k 64'; do
        # shellcheck disable=SC2086  # words
        measure -device "$gpus" -time-limit 0.01 -op spmm -alg all $set
    done
    measure -device "$gpus" -time-limit 0.01 -op spmm -alg 'auto,cusparse*' -prec bf16-f32 -k 64
    ;;
sddmm)
    measure -device "$gpus" -time-limit 0.01 -op sddmm -alg all -prec f32 -k 32,64,128
    measure -device "$gpus" -time-limit 0.01 -op sddmm -alg all -prec f64,f16 -k 64
    ;;
spgemm)
    measure -device "$gpus" -time-limit 0.02 -op spgemm -alg all -prec f64 -mul aa,aat
    measure -device "$gpus" -time-limit 0.02 -op spgemm -alg all -prec f32,f16-f32 -mul aa
    ;;
model)
    measure -device "$gpus" -time-limit 0.01 -op spmm -alg tiled -layout col -k 64 -opt balance=0,1
    measure -device "$gpus" -time-limit 0.01 -op spmm -alg tiled -layout col -k 64 -opt reorder=0,1,permute=0,1
    ;;
sets)
    measure -device "$gpus" -time-limit 0.01 -op spmm -set aspect -alg all -k 64
    measure -device "$gpus" -time-limit 0.01 -op spmm -set colseg -alg 'merge-tuned,dcsc,aspt,cusparse*' -k 128
    measure -device "$gpus" -time-limit 0.01 -op spmm -set band -alg 'graded,cusparse*' -k 128
    measure -device "$gpus" -time-limit 0.01 -op spmm -set synthetic -alg 'auto,graded,rowsplit,cusparse*' -k '1:512:*2'
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
gzip -9n "$out/$file.jsonl" || exit 2
exit $status
