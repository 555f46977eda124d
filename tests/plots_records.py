"""Made-up records for test_plots.py: like those of a GPU and of a CPU, of any number of matrices."""

import json
import math
import random

GPU = {"copy": 4200.0, "cache": 9500.0, "f32": 59000.0, "f64": 32000.0}
CPU = {"copy": 38.0, "cache": 150.0, "f32": 260.0, "f64": 130.0}


def environment(ident="cuda:0", name="NVIDIA H200", roof=None):
    rates = None if roof is None else {"f32": roof["f32"], "f64": roof["f64"]}
    return {"schema": "spbench/1", "kind": "environment", "date": "2026-11-20T10:00:00Z",
            "devices": [{"kind": "other", "missing": "not asked for"}, {
                "id": ident, "name": name, "roof": {
                    "copy_gb_s": roof and roof["copy"], "cache_gb_s": roof and roof["cache"],
                    "fma_gflops": rates}}]}


def result(alg, matrix, ms, k=64, prec="f32", device="cuda:0", status="ok", stats=None,
           options=None, method="full", flops=None):
    """matrix: name, rows, nonzeros."""
    name, rows, nnz = matrix
    flops = 2 * nnz * k if flops is None else flops
    k_or_1 = k or 1
    width = 4 if prec == "f32" else 8
    ok = status == "ok"
    return {"schema": "spbench/1", "kind": "result", "status": status,
            "reason": None if ok else "made up", "op": "spmm", "alg": alg, "device": device,
            "prec": prec, "k": k, "layout": "row", "options": options or {},
            "matrix": {"name": name, "path": "m/" + name, "rows": rows, "cols": rows, "nnz": nnz,
                       "row_mean": nnz / rows if rows else 0.0},
            "check": {"method": method, "elements": rows * k_or_1, "error_ratio": 0.3} if ok else None,
            "time_ms": {"median": ms, "samples": [ms], "cache": "warm", "throttled": False}
            if ok else None,
            "flops": flops, "gflops": flops / ms / 1e6 if ok and ms else None,
            "bytes": {"compulsory": nnz * (width + 4) + 4 * rows + 2 * rows * k_or_1 * width},
            "stats": stats or {}}


def matrices(count, rng):
    """Names, rows, nonzeros: row lengths from 1.5 to 2,000, sizes over three decades."""
    found = []
    for i in range(count):
        mean = 10 ** rng.uniform(0.2, 3.3) if i % 3 else 10 ** rng.uniform(0.3, 1.2)
        rows = int(10 ** rng.uniform(3, 6))
        found.append(("matrix-%04d" % i, rows, max(rows, int(min(rows * mean, 2e8)))))
    return found


def aspect_matrices():
    return [("aspect:%d:8388608" % 2 ** i, 2 ** i, 2 ** 23) for i in range(1, 23, 2)]


def model_ms(alg, rng, matrix, k, prec, roof, launch):
    """A plausible time: some fraction of the compulsory bound, by algorithm and row length."""
    _, rows, nnz = matrix
    mean = nnz / rows
    width = 4 if prec == "f32" else 8
    bound = (nnz * (width + 4) + 2 * rows * k * width + 0.05 * nnz * k * width) / roof["copy"] / 1e6
    factor = {"rowsplit": 1.0 + 6 / mean, "merge": 1.55 + 0.5 / mean, "sellp": 1.4 + 3 / mean,
              "reference": 9.0, "cusparse-csr2": 1.3 + 2 / mean}.get(alg, 1.8 + 3 / mean)
    factor *= 0.4 if rows < 3000 else 1  # out of the cache
    few = 1 + 3e3 / rows if alg in ("rowsplit", "sellp") else 1 + 2e2 / rows
    return launch + bound * factor * few * math.exp(rng.gauss(0, 0.25))


GPU_ALGS = ("rowsplit", "merge", "sellp", "cusparse", "cusparse-csr2", "cusparse-csr3",
            "cusparse-coo4")


def gpu_records(count, combos, seed=1):
    rng = random.Random(seed)
    yield environment(roof=GPU)
    for matrix in matrices(count, rng) + aspect_matrices()[:11 if count else 0]:
        for k, prec in combos:
            ms = {alg: model_ms(alg, rng, matrix, k, prec, GPU, 0.002) for alg in GPU_ALGS}
            for alg in GPU_ALGS:
                odd = rng.random()
                status = "ok" if odd > 0.01 else "wrong" if odd > 0.009 else "unsupported"
                yield result(alg, matrix, ms[alg], k, prec, status=status)
            pick = "merge" if matrix[2] / matrix[1] < 9.35 else "rowsplit"
            yield result("heuristic", matrix, ms[pick] * 1.01, k, prec,
                         stats={"picked": pick}, options={"threshold": 9.35})


def cpu_records(count, combos, seed=2):
    rng = random.Random(seed)
    yield environment("cpu", "AMD EPYC 9654", CPU)
    for matrix in matrices(count, rng):
        for k, prec in combos:
            for alg in ("reference", "rowsplit", "merge", "sellp"):
                ms = model_ms(alg, rng, matrix, k, prec, CPU, 0.001)
                yield result(alg, matrix, ms, k, prec, "cpu")


# SpGEMM.


def phases_of(alg, ms):
    """Plausible phases of a product that takes so long."""
    shares = {"tile": (("step1", 0.05), ("step2", 0.2), ("allocate", 0.1), ("step3", 0.65)),
              "esc": (("analyse", 0.05), ("expand", 0.3), ("sort", 0.5), ("compress", 0.15)),
              "hash": (("analyse", 0.1), ("symbolic", 0.3), ("allocate", 0.1), ("numeric", 0.45),
                       ("sort", 0.05))}
    return {name: 1.1 * share * ms for name, share in shares.get(alg, shares["hash"][1:4])}


def timeline_of(alg, ms, operands, nnz_c):
    """What is allocated: scratch at the start, C in the middle, then the scratch goes."""
    scratch = {"esc": 8, "tile": 2, "hash": 0.3}.get(alg, 1.2) * 12 * nnz_c
    moments = [[0, operands], [0.02 * ms, operands + scratch],
               [0.4 * ms, operands + scratch + 12 * nnz_c], [ms, operands + 12 * nnz_c]]
    return [[round(t, 3), int(use)] for t, use in moments]


def product(alg, matrix, ms, prec="f64", mul="aa", status="ok", stats=None, device="cuda:0",
            peak=None):
    """matrix: name, rows, nonzeros, products, nonzeros of C."""
    name, rows, nnz, products, nnz_c = matrix
    record = result(alg, (name, rows, nnz), ms, None, prec, device, status, stats, flops=2 * products)
    operands = 12 * nnz + 4 * rows
    record.update(op="spgemm", mul=mul, layout=None, products=products)
    record.update(nnz_c=None, compression=None, phases_ms={}, memory={"peak_bytes": None})
    if status == "ok":
        moments = timeline_of(alg, ms, operands, nnz_c)
        record.update(nnz_c=nnz_c, compression=products / nnz_c if nnz_c else None,
                      phases_ms=phases_of(alg, ms),
                      bytes={"compulsory": 2 * operands + 12 * nnz_c},
                      memory={"peak_bytes": peak or max(use for _, use in moments),
                              "timeline": moments})
    return record


PRODUCT_ALGS = {"hash": 0.02, "esc": 0.12, "tile": 0.025, "cusparse": 0.035, "cusparse-alg2": 0.04,
                "cusparse-alg3": 0.09, "cusparse-reuse": 0.01}


def product_records(count, precs=("f64",), seed=3):
    """Products of these algorithms; the number is their time for a million products, in ms."""
    rng = random.Random(seed)
    yield environment(roof=GPU)
    for name, rows, nnz in matrices(count, rng):
        mean = nnz / rows
        products = int(nnz * mean * rng.uniform(0.8, 4))
        nnz_c = int(max(rows, products / 10 ** rng.uniform(0.02, min(2, 0.3 + math.log10(mean)))))
        matrix = (name, rows, nnz, products, nnz_c)
        for prec in precs:
            for alg, ms_per_million in PRODUCT_ALGS.items():
                ms = 0.1 + products / 1e6 * ms_per_million * (nnz_c / products) ** 0.4 * \
                    math.exp(rng.gauss(0, 0.4))
                per_tile = 10 ** rng.uniform(0.3, 2)
                stats = {"tile_bytes": int(nnz * (10 + 60 / per_tile)), "csr_bytes": 12 * nnz,
                         "convert_ms": ms * 10 ** rng.uniform(-1, 1)} if alg == "tile" else {}
                fails = alg.startswith("cusparse") and rng.random() < 0.05
                yield product(alg, matrix, ms, prec, status="failed" if fails else "ok",
                              stats=stats)


def write(path, records):
    with open(path, "w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
    return path
