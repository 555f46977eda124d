#!/usr/bin/env python3
"""The threshold of aspt for this machine: where 2D tiles begin to beat CSR on random matrices.

usage: tools/aspt_threshold.py [-k 128] [-prec f32] [-rows 131072] [SPBENCH [OPTION...]]

The microbenchmark is figure 5 of Hong et al. (PPoPP 2019): matrices of ROWS rows and 4,096 columns,
with growing density. Columns of the table: mean nonzeros of a column in a panel, GFLOPS with all
nonzeros as CSR (aspt with the highest threshold: no column is heavy), GFLOPS with all in tiles
(threshold 1), and their ratio. Use the crossover as -opt threshold=. OPTIONs go to spbench: -device
cuda, -threads 8, ...
"""
import argparse
import json
import subprocess
import sys

COLUMNS = 4096


def gflops(words, spec, options):
    """The rate and the panel of the one case, or why there is none."""
    out = subprocess.run([*words, "-q", "-o", "-", "-op", "spmm", "-alg", "aspt", *options, spec],
                         stdout=subprocess.PIPE, text=True, check=False).stdout
    for line in out.splitlines():
        record = json.loads(line)
        if record["kind"] == "result":
            if record["status"] != "ok":
                sys.exit(f"{spec}: {record['status']}: {record['reason']}")
            return record["gflops"], record["stats"]["panel"]
    sys.exit(f"{spec}: no record")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", type=int, default=128)
    parser.add_argument("-prec", default="f32", choices=("f32", "f64"))
    parser.add_argument("-rows", type=int, default=131072)
    parser.add_argument("spbench", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    words = args.spbench or ["./spbench"]
    words += ["-k", str(args.k), "-prec", args.prec, "-check", "sample"]
    crossover = None
    print("nonzeros/row  nnz_colseg      CSR    tiles  tiles/CSR")
    for row in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        spec = f"gen:sparse2d:{args.rows}:{COLUMNS}:{row * args.rows}"
        csr, _ = gflops(words, spec, ["-opt", "threshold=4096"])
        tiles, panel = gflops(words, spec, ["-opt", "threshold=1", "-opt", "fill=0"])
        mean = panel * row / COLUMNS
        print(f"{row:12}  {mean:10.3g}  {csr:7.4g}  {tiles:7.4g}  {tiles / csr:9.3f}", flush=True)
        if tiles <= csr:
            crossover = None
        elif crossover is None:
            crossover = mean
    print("tiles never win" if crossover is None else
          f"tiles win from {crossover:.3g} nonzeros of a column in a panel on")


if __name__ == "__main__":
    main()
