#!/usr/bin/env bash
# `make demo`: measures every algorithm on a few matrices, on the GPU if there is one, and draws the
# figures. Writes results/demo.jsonl and results/demo/.
set -u
cd "$(dirname "$0")/.." || exit 1
mkdir -p results

matrices=(tests/data/demo_mesh.mtx.gz gen:stencil:100 gen:uniform:20000:8 gen:rmat:12:16
    gen:skew:20000:6:2000 gen:fem:8)
aspects=(gen:aspect:8:131072 gen:aspect:64:131072 gen:aspect:512:131072 gen:aspect:4096:131072
    gen:aspect:32768:131072)
if ./spbench list devices | grep -q '^cuda:0'; then
    matrices=(tests/data/demo_mesh.mtx.gz gen:stencil:1000 gen:uniform:500000:8 gen:rmat:16:16
        gen:skew:100000:6:20000 gen:fem:20)
    aspects=("${aspects[@]//131072/4194304}")
fi

echo "spbench -k 32,64 -time-limit 0.1 -o results/demo.jsonl ${matrices[*]} ${aspects[*]}" >&2
./spbench -k 32,64 -time-limit 0.1 -o results/demo.jsonl "${matrices[@]}" "${aspects[@]}" || exit
make --no-print-directory figures RESULTS=results/demo.jsonl OUT=results/demo
