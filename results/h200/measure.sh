#!/usr/bin/env bash
# The run behind paper1.jsonl: every SpMM algorithm, k = 32, 64, 128, f32 and f64, on the matrices of
# a folder, the five generated ones, and the aspect-ratio series of paper 1; cuSPARSE also in the
# column-major layout, at k = 64.
#
# usage: results/h200/measure.sh SPBENCH FOLDER OUT.jsonl [real|generated]
# Without the last word both. The records are appended, so the two parts can run apart.
set -u
[ $# -ge 3 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
spbench=$1 folder=$2 out=$3 part=${4:-both}
generated=(gen:fem:28 gen:stencil:1000 gen:rmat:17:16 gen:uniform:500000:8 gen:skew:300000:6:20000)
aspect=()
for rows in 32 128 512 2048 8192 32768 131072 524288 2097152; do
    aspect+=("gen:aspect:$rows:8388608")
done
status=0

measure() {
    "$spbench" -q -append -o "$out" -device cuda -time-limit 0.3 "$@" || status=$?
}

if [ "$part" != generated ]; then
    measure -alg all -k 32,64,128 -prec f32,f64 "$folder"/*.mtx*
    measure -alg 'cusparse*' -layout col -k 64 -prec f32,f64 "$folder"/*.mtx*
fi
if [ "$part" != real ]; then
    measure -alg all -k 32,64,128 -prec f32,f64 "${generated[@]}"
    measure -alg 'cusparse*' -layout col -k 64 -prec f32,f64 "${generated[@]}"
    measure -alg all -k 64 "${aspect[@]}"
fi
exit $status
