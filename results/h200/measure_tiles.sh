#!/usr/bin/env bash
# The runs behind tiles.jsonl: the algorithms of papers 3 and 4 beside cuSPARSE, SpMM, on the
# matrices of a folder and the five generated ones, and some cases with the counters of ncu; behind
# tiles_decisions.jsonl: tiled without balancing, and with its rows sorted; and behind
# tiles_segments.jsonl: bands, and random matrices by nonzeros in a column segment.
#
# usage: results/h200/measure_tiles.sh SPBENCH FOLDER OUT.jsonl [PART...]
# Parts: columns, counters, rows; decisions (to OUT_decisions.jsonl); segments (to
# OUT_segments.jsonl); all of them if none is named. The records are appended.
set -u
[ $# -ge 3 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
spbench=$1 folder=$2 out=$3
shift 3
[ $# -gt 0 ] || set -- columns decisions rows segments counters
generated=(gen:fem:28 gen:stencil:1000 gen:rmat:17:16 gen:uniform:500000:8 gen:skew:300000:6:20000)
vendor=cusparse,cusparse-csr1-pre,cusparse-csr3-pre,cusparse-coo4
status=0

measure() {
    "$spbench" -q -append -o "$out" -device cuda -op spmm -time-limit 0.05 "$@" || status=$?
}
all() { measure "$@" "$folder"/*.mtx* "${generated[@]}"; }

columns() { all -layout col -k 64 -prec f32,f64 -alg 'naive,tiled,tiled-tuned,cusparse*'; }
decisions() {
    local out=${out%.jsonl}_decisions.jsonl
    all -layout col -k 64 -alg tiled -opt balance=0 -opt reorder=0
    all -layout col -k 64 -alg tiled -opt reorder=0
    all -layout col -k 64 -alg tiled -opt reorder=1
    all -layout col -k 64 -alg tiled -opt reorder=1 -opt permute=1
}
rows() {
    all -layout row -k 32,128 -prec f32 -alg "aspt,merge-tuned,$vendor"
    all -layout row -k 64 -prec f64 -alg "aspt,merge-tuned,$vendor"
}
segments() {
    local out=${out%.jsonl}_segments.jsonl
    local bands=(gen:band:20000:{8,16,32,64,128,256,512,1024})
    local squares=(gen:sparse2d:131072:4096:{500000,1000000,2000000,4000000,8000000})
    measure -layout row -k 32 -alg "aspt,merge-tuned,$vendor" "${bands[@]}"
    measure -counters -layout row -k 128 -alg aspt,merge-tuned,cusparse-csr3-pre "${bands[@]}"
    measure -layout row -k 32,128 -alg "aspt,dcsc,merge-tuned,$vendor" "${squares[@]}"
    # In tiles whatever they cost, as the paper has it.
    measure -layout row -k 32,128 -alg aspt -opt threshold=16 "${bands[@]}" "${squares[@]}"
}
counters() {
    local few=("$folder"/{USA-road-d.NY,bcsstk17,gowalla_s_adj,ogbl-ddi}.mtx* gen:fem:28
        gen:stencil:1000 gen:uniform:500000:8)
    measure -counters -layout row -k 128 -alg aspt,merge-tuned "${few[@]}"
    measure -counters -layout col -k 64 -alg tiled,tiled-tuned "${few[@]}"
}

for part in "$@"; do
    case $part in
    columns) columns ;;
    counters) counters ;;
    decisions) decisions ;;
    rows) rows ;;
    segments) segments ;;
    *) echo "no such part: $part" >&2; exit 2 ;;
    esac
done
exit $status
