#!/usr/bin/env bash
# The runs behind spgemm.jsonl, every SpGEMM algorithm on the matrices of a folder and the five
# generated ones, and behind spgemm_paper.jsonl, hash and tile there with the papers' own ways.
#
# usage: results/h200/measure_spgemm.sh SPBENCH FOLDER OUT.jsonl [aa:f64] [aa:f32] [aat:f64] [paper]
# Without the last words the first three. The records are appended, so the parts can run apart; what
# is compared belongs to one part, and so to one run.
set -u
[ $# -ge 3 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
spbench=$1 folder=$2 out=$3
shift 3
[ $# -gt 0 ] || set -- aa:f64 aa:f32 aat:f64
generated=(gen:fem:28 gen:stencil:1000 gen:rmat:17:16 gen:uniform:500000:8 gen:skew:300000:6:20000)
status=0

measure() {
    "$spbench" -q -append -o "$out" -device cuda -op spgemm -time-limit 0.1 "$@" \
        "$folder"/*.mtx.gz "${generated[@]}" || status=$?
}

for part; do
    if [ "$part" = paper ]; then
        measure -prec f64 -alg hash -opt even=0 -opt repeats=0 -opt slack=1 -opt bitmap=0 \
            -opt shared=48 -opt split=2147483647
        measure -prec f64 -alg tile -opt full=257 -opt prune=0 -opt window=0
    else
        measure -alg all -mul "${part%:*}" -prec "${part#*:}"
    fi
done
exit $status
