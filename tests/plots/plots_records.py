"""Made-up records for test_plots.py: like those of a GPU and of a CPU, of any number of matrices,
and of an operation that no script has heard of."""

import json
import math
import random

import precs
from records import row_from

GPU = {"copy": 4200.0, "cache": 9500.0, "f32": 59000.0, "f64": 32000.0}
CPU = {"copy": 38.0, "cache": 150.0, "f32": 260.0, "f64": 130.0}


LIBRARY, OLD = "cuSPARSE 12.6.3", "cuSPARSE 12.5.1"

# Names, rows, nonzeros, products, nonzeros of C: compressions 10 and 2.
M1, M2 = ("one", 100, 500, 10000, 1000), ("two", 100, 2000, 40000, 20000)


def algorithm(name, device="cuda", **facts):
    return {"name": name, "device": device, **facts}


def of_vendor(*names, **facts):
    return [algorithm(name, vendor="cuSPARSE", library=LIBRARY, **facts) for name in names]


def operation(name, result, axes, figures=()):
    return {"name": name, "formula": "made up", "result": result,
            "axes": [{"name": axis, "about": "made up", **({"words": words} if words else {})}
                     for axis, words in axes.items()],
            "figures": [{"name": figure, "about": about} for figure, about in figures]}


# Operations, and the algorithms that they have.
SPMM = operation("spmm", "dense", {"k": None, "layout": ["row", "col"]}), [
    algorithm("reference", "cpu", reference=True), algorithm("rowsplit", "cpu"),
    algorithm("merge", "cpu"), algorithm("sellp", "cpu"),
    algorithm("mkl", "cpu", vendor="MKL", library="MKL 2025.1 (GNU threads, AVX2)"),
    algorithm("rowsplit"), algorithm("merge"),
    algorithm("merge-tuned", tuned_of="merge"),
    algorithm("heuristic", picks=["merge", "rowsplit"]), algorithm("sellp"), algorithm("folded"),
    *of_vendor("cusparse", "cusparse-csr2", "cusparse-csr3", "cusparse-coo4"),
    algorithm("full", vendor="cuBLAS", library="cuBLAS 12.9", dense=True)]
SPGEMM = operation("spgemm", "sparse", {"mul": ["aa", "aat"]}, [
    ("products", "multiplications"), ("nnz_c", "nonzeros of C"),
    ("compression", "products / nnz_c")]), [
    algorithm("gustavson", "cpu", reference=True), algorithm("hash"),
    algorithm("hash-tuned", tuned_of="hash"), algorithm("esc"),
    *of_vendor("cusparse", "cusparse-alg2", "cusparse-alg3"),
    *of_vendor("cusparse-reuse", partial="the structure of C"), algorithm("tile"),
    algorithm("tile-csr", tuned_of="tile"), algorithm("lost", missing="not in this build")]
# No script knows these names.
BLEND = operation("blend", "sparse", {"depth": None, "mode": ["soft", "hard"]}, [
    ("weight", "of all"), ("compression", "terms / weight")]), [
    algorithm("plain", "cpu", reference=True), algorithm("alpha"),
    algorithm("alpha-fast", tuned_of="alpha"), algorithm("chooser", picks=["alpha", "alpha-fast"]),
    *(algorithm(name, vendor="ACME", library="ACME 1.0") for name in ("acme", "acme-2")),
    algorithm("acme-part", vendor="ACME", partial="half of it")]


def environment(of=SPMM, ident="cuda:0", name="NVIDIA H200", roof=None):
    rates = None if roof is None else {"f32": roof["f32"], "f64": roof["f64"]}
    return {"schema": "spbench/1", "kind": "environment", "date": "2026-11-20T10:00:00Z",
            "operation": of[0], "algorithms": of[1],
            "devices": [{"kind": "other", "missing": "not asked for"}, {
                "id": ident, "name": name, "roof": {
                    "memory_gb_s": roof and roof["copy"], "copy_gb_s": roof and 0.9 * roof["copy"],
                    "cache_gb_s": roof and roof["cache"],
                    "fma_gflops": rates}}]}


def case(of, axes, alg, matrix, ms, flops, prec="f32", device="cuda:0", status="ok", stats=None,
         options=None, method="full", cache="warm", library=None, formats=None, model=None):
    """A result with the values of its operation's axes. matrix: name, rows, nonzeros, ..."""
    name, rows, nnz = matrix[:3]
    width = precs.facts(prec).bytes or 1
    csr = nnz * (width + 4) + 4 * rows
    ok = status == "ok"
    facts = next((facts for facts in of[1] if facts["name"] == alg), {})
    record = {"schema": "spbench/1", "kind": "result", "status": status,
              "reason": None if ok else "made up", "op": of[0]["name"], "alg": alg,
              "device": device, "prec": prec, **axes, "cache": cache, "options": options or {},
              "library": library or facts.get("library"),
              "matrix": {"name": name, "path": "m/" + name, "rows": rows, "cols": rows,
                         "nnz": nnz, "row_mean": nnz / rows if rows else 0.0},
              "check": {"method": method, "elements": rows, "error_ratio": 0.3} if ok else None,
              "time_ms": {"median": ms, "ci_lo": ms, "ci_hi": ms, "samples": [ms] * 6, "throttled": False} if ok else None,
              "formats": [{"of": "A", "format": format_, "bytes": int(csr * ratio),
                           "csr_bytes": csr, "convert_ms": first, "convert_warm_ms": again,
                           "upload_ms": 0.1}
                          for format_, ratio, first, again in formats or [("csr", 1, 0, 0)]],
              "flops": flops, "gflops": flops / ms / 1e6 if ok and ms else None,
              "bytes": {"compulsory": csr + 2 * rows * width * axes.get("k", 1)},
              "stats": stats or {}, **({"model": model} if model else {})}
    words = [record["op"], alg, device, prec, *("%s=%s" % item for item in axes.items()), "cache=" + cache]
    words += ["%s=%s" % item for item in sorted((options or {}).items())]
    words += [record["library"].replace(" ", "-")] if record["library"] else []
    return {**record, "case": " ".join(words + ["%dx%d:%d %s" % (rows, rows, nnz, name)])}


def result(alg, matrix, ms, k=64, prec="f32", device="cuda:0", status="ok", layout="row", **more):
    flops = more.pop("flops", 2 * matrix[2] * k)
    return case(SPMM, {"k": k, "layout": layout}, alg, matrix, ms, flops, prec, device, status,
                **more)


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
    width = precs.facts(prec).bytes or 1
    bound = (nnz * (width + 4) + 2 * rows * k * width + 0.05 * nnz * k * width) / roof["copy"] / 1e6
    factor = {"rowsplit": 1.0 + 6 / mean, "merge": 1.55 + 0.5 / mean, "sellp": 1.4 + 3 / mean,
              "merge-tuned": 0.9 + 0.4 / mean, "reference": 9.0,
              "cusparse-csr2": 1.3 + 2 / mean}.get(alg, 1.8 + 3 / mean)
    factor *= 0.4 if rows < 3000 else 1  # out of the cache
    few = 1 + 3e3 / rows if alg in ("rowsplit", "sellp") else 1 + 2e2 / rows
    return launch + bound * factor * few * math.exp(rng.gauss(0, 0.25))


GPU_ALGS = ("rowsplit", "merge", "merge-tuned", "sellp", "cusparse", "cusparse-csr2",
            "cusparse-csr3", "cusparse-coo4")


def formats_of(alg, ms, rng):
    """What an algorithm takes its operand in: bytes over CSR, ms of two conversions."""
    own = {"sellp": ("sellp", 1.2), "cusparse-coo4": ("coo", 1.4), "tile": ("tile16", 0.9)}
    if alg not in own:
        return None
    name, ratio = own[alg]
    again = ms * 10 ** rng.uniform(-1, 1)
    return [(name, ratio * 2 ** rng.uniform(-1, 1), 30 + 2 * again, again)]


def gpu_records(count, combos, seed=1):
    rng = random.Random(seed)
    yield environment(roof=GPU)
    for matrix in matrices(count, rng) + aspect_matrices()[:11 if count else 0]:
        for k, prec in combos:
            ms = {alg: model_ms(alg, rng, matrix, k, prec, GPU, 0.002) for alg in GPU_ALGS}
            for alg in GPU_ALGS:
                odd = rng.random()
                status = "ok" if odd > 0.01 else "wrong" if odd > 0.009 else "unsupported"
                yield result(alg, matrix, ms[alg], k, prec, status=status,
                             formats=formats_of(alg, ms[alg], rng))
            pick = "merge" if matrix[2] / matrix[1] < 9.35 else "rowsplit"
            yield result("heuristic", matrix, ms[pick] * 1.01, k, prec,
                         stats={"picked": pick}, options={"threshold": 9.35})


def cpu_records(count, combos, seed=2):
    rng = random.Random(seed)
    yield environment(SPMM, "cpu", "AMD EPYC 9654", CPU)
    for matrix in matrices(count, rng):
        for k, prec in combos:
            for alg in ("reference", "rowsplit", "merge", "sellp"):
                ms = model_ms(alg, rng, matrix, k, prec, CPU, 0.001)
                yield result(alg, matrix, ms, k, prec, "cpu")


# Operations whose runs make their results.


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


def made(record, alg, ms, operands, nnz_c, peak=None):
    """The record with what an operation has besides whose runs make their results."""
    record.update(phases_ms={}, memory={"peak_bytes": None})
    if record["status"] == "ok":
        moments = timeline_of(alg, ms, operands, nnz_c)
        record.update(phases_ms=phases_of(alg, ms),
                      bytes={"compulsory": 2 * operands + 12 * nnz_c},
                      memory={"peak_bytes": peak or max(use for _, use in moments),
                              "timeline": moments})
    return record


def product(alg, matrix, ms, prec="f64", mul="aa", status="ok", peak=None, **more):
    """matrix: name, rows, nonzeros, products, nonzeros of C."""
    _, rows, nnz, products, nnz_c = matrix
    record = case(SPGEMM, {"mul": mul}, alg, matrix, ms, 2 * products, prec, status=status, **more)
    record.update(products=products, nnz_c=nnz_c, compression=products / nnz_c if nnz_c else None)
    if status != "ok":
        record.update(nnz_c=None, compression=None)
    return made(record, alg, ms, 12 * nnz + 4 * rows, nnz_c, peak)


PRODUCT_ALGS = {"hash": 0.02, "hash-tuned": 0.015, "esc": 0.12, "tile": 0.025, "cusparse": 0.035,
                "cusparse-alg2": 0.04, "cusparse-alg3": 0.09, "cusparse-reuse": 0.01}


def product_records(count, precs=("f64",), seed=3):
    """Products of these algorithms; the number is their time for a million products, in ms."""
    rng = random.Random(seed)
    yield environment(SPGEMM, roof=GPU)
    for name, rows, nnz in matrices(count, rng):
        mean = nnz / rows
        products = int(nnz * mean * rng.uniform(0.8, 4))
        nnz_c = int(max(rows, products / 10 ** rng.uniform(0.02, min(2, 0.3 + math.log10(mean)))))
        matrix = (name, rows, nnz, products, nnz_c)
        for prec in precs:
            for alg, ms_per_million in PRODUCT_ALGS.items():
                ms = 0.1 + products / 1e6 * ms_per_million * (nnz_c / products) ** 0.4 * \
                    math.exp(rng.gauss(0, 0.4))
                fails = alg.startswith("cusparse") and rng.random() < 0.05
                yield product(alg, matrix, ms, prec, status="failed" if fails else "ok",
                              formats=formats_of(alg, ms, rng))


def blend_records(count, seed=4):
    """Results of an operation, of algorithms, axes and figures that are made up."""
    rng = random.Random(seed)
    yield environment(BLEND, roof=GPU)
    for matrix in matrices(count, rng) + aspect_matrices()[:3]:
        weight = matrix[2] // 2
        for depth, mode in ((3, "soft"), (3, "hard"), (5, "soft")):
            for alg, per in (("alpha", 2), ("alpha-fast", 1), ("chooser", 1), ("acme", 3),
                             ("acme-2", 4), ("acme-part", 0.5)):
                ms = 0.1 + matrix[2] / 1e6 * per * math.exp(rng.gauss(0, 0.3))
                record = case(BLEND, {"depth": depth, "mode": mode}, alg, matrix, ms,
                              2 * matrix[2] * depth, "f64",
                              stats={"picked": "alpha"} if alg == "chooser" else None,
                              formats=[("bricks", 0.7, 5 * ms, ms)] * (alg == "alpha-fast"))
                record.update(weight=weight, compression=rng.uniform(1, 20))
                yield made(record, alg, ms, 12 * matrix[2], weight)


def rows_of(of, *made):
    """Rows of these records, which have one environment."""
    env = environment(of, roof=GPU)
    return [row_from(record, env) for record in made]


def write(path, records):
    with open(path, "w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
    return path
