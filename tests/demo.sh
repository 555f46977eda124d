#!/usr/bin/env bash
# The second part of `make demo`, behind the build: measures every algorithm of every operation on a
# few matrices, on a GPU if possible, and draws the figures. Writes results/demo.jsonl and
# results/demo/.
set -u
cd "$(dirname "$0")/.." || exit 1
out=results/demo.jsonl
figures=results/demo
mkdir -p results
rm -f "$out"

matrices=(tests/data/demo_mesh.mtx.gz gen:stencil:100 gen:uniform:5000:8 gen:rmat:11:16
    gen:skew:5000:6:2000 gen:fem:6)
aspects=(gen:aspect:8:131072 gen:aspect:64:131072 gen:aspect:512:131072 gen:aspect:4096:131072
    gen:aspect:32768:131072)
place="the CPU"
# A device with a number is a GPU. A run on the matrices above is shorter than its launch.
if ./spbench list devices | grep -E '^ +[a-z]+:[0-9]+ ' | grep -qv unavailable; then
    matrices=(tests/data/demo_mesh.mtx.gz gen:stencil:1000 gen:uniform:500000:8 gen:rmat:16:16
        gen:skew:100000:6:20000 gen:fem:20)
    aspects=("${aspects[@]//131072/4194304}")
    place="the GPU"
fi

# measure OPERATION MATRIX...
measure() {
    local op=$1
    shift
    echo "demo: measure $op on $place, $# matrices"
    ./spbench -q -op "$op" -time-limit 0.2 -append -o "$out" "$@" || exit
}

mapfile -t operations < <(./spbench list algorithms | sed -n 's/^  -op \([^:]*\):.*/\1/p')
for op in "${operations[@]}"; do
    measure "$op" "${matrices[@]}"
done
measure "${operations[0]}" "${aspects[@]}"

echo "demo: draw the figures"
said=$(make --no-print-directory figures RESULTS="$out" OUT="$figures" 2>&1) || {
    echo "$said" >&2
    exit 1
}
cases=$(grep -c '"kind":"result".*"busy":' "$out")
busy=$(grep -c '"kind":"result".*"busy":true' "$out")

cat <<END

$(find "$figures" -name '*.png' | wc -l) figures are in $figures, the records in $out. Open this page:
  $figures/index.html

Commands to try:
  ./spbench list                        the algorithms; list NAME shows all about one
  ./spbench -k 32,128 YOUR.mtx          every algorithm on a matrix of your own
  ./spbench help columns                the meaning of each number in the table
END
[ "$busy" -eq 0 ] || cat <<END

Other programs used the processors during $busy of $cases cases: do not believe these times.
Measure again on an idle machine, or on one processor: ./spbench -threads 1 -device cpu gen:fem:6
END
