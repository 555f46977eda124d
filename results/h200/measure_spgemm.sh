#!/usr/bin/env bash
# The runs behind spgemm.jsonl: every SpGEMM algorithm on the matrices of a folder and the five
# generated ones.
#
# usage: results/h200/measure_spgemm.sh SPBENCH FOLDER OUT.jsonl [aa:f64] [aa:f32] [aat:f64]
# Without the last words all three. The records are appended, so the parts can run apart; what is
# compared belongs to one part, and so to one run.
set -u
[ $# -ge 3 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }
spbench=$1 folder=$2 out=$3
shift 3
[ $# -gt 0 ] || set -- aa:f64 aa:f32 aat:f64
generated=(gen:fem:28 gen:stencil:1000 gen:rmat:17:16 gen:uniform:500000:8 gen:skew:300000:6:20000)
status=0

for part; do
    "$spbench" -q -append -o "$out" -device cuda -op spgemm -time-limit 1 -mul "${part%:*}" \
        -prec "${part#*:}" "$folder"/*.mtx* "${generated[@]}" || status=$?
done
exit $status
