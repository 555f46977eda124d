#!/usr/bin/env bash
# `make demo`: measures every algorithm of every operation on a few matrices, on the GPU if there is one,
# and draws the figures. Writes results/demo.jsonl and results/demo/.
set -u
cd "$(dirname "$0")/.." || exit 1
out=results/demo.jsonl
mkdir -p results
rm -f "$out"

matrices=(tests/data/demo_mesh.mtx.gz gen:stencil:100 gen:uniform:20000:8 gen:rmat:11:16
    gen:skew:20000:6:2000 gen:fem:6)
aspects=(gen:aspect:8:131072 gen:aspect:64:131072 gen:aspect:512:131072 gen:aspect:4096:131072
    gen:aspect:32768:131072)
# A device with a number is a GPU: the matrices above would be over before they have begun.
if ./spbench list devices | grep -E '^ +[a-z]+:[0-9]+ ' | grep -qv unavailable; then
    matrices=(tests/data/demo_mesh.mtx.gz gen:stencil:1000 gen:uniform:500000:8 gen:rmat:16:16
        gen:skew:100000:6:20000 gen:fem:20)
    aspects=("${aspects[@]//131072/4194304}")
fi

measure() {
    echo "spbench $* -time-limit 0.2 -append -o $out" >&2
    ./spbench "$@" -time-limit 0.2 -append -o "$out" || exit
}

mapfile -t operations < <(./spbench list algorithms | sed -n 's/^  -op \([^:]*\):.*/\1/p')
for op in "${operations[@]}"; do
    measure -op "$op" "${matrices[@]}"
done
measure -op "${operations[0]}" "${aspects[@]}"
make --no-print-directory figures RESULTS="$out" OUT=results/demo || exit

cat >&2 <<END

What to try next:
  ./spbench list                            what there is: algorithms, their parameters, devices, formats
  ./spbench -alg all -k 32,128 YOUR.mtx     a matrix of your own
  plots/table.py $out         speed-ups over the baseline, memory, failures
END
