#!/usr/bin/env bash
# The run behind sddmm.jsonl: every SDDMM algorithm, k = 32, 64, 128, f32 and f64, on the matrices of
# a folder and the five generated ones; and `balanced` without its early start.
#
# usage: results/h200/measure_sddmm.sh SPBENCH FOLDER OUT.jsonl [OPTION...]
# The records are appended. More options (-alg 'cusparse*') make a part of it.
set -u
[ $# -ge 3 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
spbench=$1 folder=$2 out=$3
shift 3
generated=(gen:fem:28 gen:stencil:1000 gen:rmat:17:16 gen:uniform:500000:8 gen:skew:300000:6:20000)
status=0

measure() {
    "$spbench" -q -append -o "$out" -device cuda -op sddmm -time-limit 0.05 "$@" \
        "$folder"/*.mtx* "${generated[@]}" || status=$?
}

measure -k 32,64,128 -prec f32,f64 "$@"
[ $# -gt 0 ] || measure -k 32,128 -alg balanced -opt overlap=0
exit $status
