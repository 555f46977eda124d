#!/usr/bin/env python3
"""Validates JSON Lines against src/records/record.schema.json: check_records.py [-promised] FILE...

Beyond the schema: every line is strict JSON (no NaN, no infinity), the first record of a file is no
result, a result has the environment of its run before it, the axes and figures of its operation
and no other names, the key of its case is what its fields say, no key comes twice in a run, and figures
that say the same thing agree. -promised: the files together have every field of fields.txt. Ends with
`N passed, N failed, N skipped`.
"""
import json
import math
import pathlib
import statistics
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "src" / "records" / "record.schema.json"
sys.dont_write_bytecode = True

from fields import broken


def refuse(text):
    raise ValueError("%s is no JSON number" % text)


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-9)  # they have seven digits


def key_of(record, axes):
    """Returns the key that the fields of a record make. axes: {name: description}, those of the record."""
    matrix = record["matrix"]
    size = "-:-" if matrix["rows"] is None else \
        "%dx%d:%d" % (matrix["rows"], matrix["cols"], matrix["nnz"])
    words = [record[name] for name in ("op", "alg", "device", "prec")]
    said = [(name, "standard" in facts) for name, facts in axes.items()]
    words += ["%s=%s" % (name, record[name]) for name, optional in said if not optional]
    words += ["cache=" + record["cache"]]
    words += ["launch=" + record["launch"]] if record.get("launch") else []
    words += ["%s=%s" % (name, record[name]) for name, optional in said if optional]
    words += ["%s=%.10g" % item for item in sorted(record["options"].items())]
    words += [record["library"].replace(" ", "-")] if record["library"] else []
    return " ".join(words + [size, matrix["name"]])


def contradictions(record, env, known):
    """What the schema cannot say of a result, as texts. `known` are the names it has."""
    time, setup, status = record["time_ms"], record["setup_ms"], record["status"]
    operation = env["operation"]
    axes = {axis["name"]: axis for axis in operation["axes"]
            if axis["name"] in record or "standard" not in axis}
    own = set(axes) | {figure["name"] for figure in operation["figures"]}
    if set(record) - set(known) != own:
        yield "its own names are %s, not %s" % (sorted(set(record) - set(known)), sorted(own))
        return
    for axis in axes.values():
        if record[axis["name"]] == axis.get("standard"):
            yield "%s is its standard, which is left out" % axis["name"]
        if axis.get("words") and record[axis["name"]] not in axis["words"]:
            yield "%s is none of its words" % axis["name"]
    if record["op"] != operation["name"]:
        yield "op is not that of the environment"
    if any(record[name] != env[name] for name in ("run", "seed", "threads")):
        yield "run, seed or threads are not those of the environment"
    if record["alg"] not in {algorithm["name"] for algorithm in env["algorithms"]}:
        yield "alg is not in the environment's list"
    if record["device"] not in {device["id"] for device in env["devices"]}:
        yield "device is not in the environment's list"
    if record["case"] != key_of(record, axes):
        yield "case is %r, and its fields say %r" % (record["case"], key_of(record, axes))
    if setup and not close(setup["total"], setup["convert"] + setup["upload"] + setup["analyse"]):
        yield "setup_ms.total is not the sum of its parts"
    if setup and not close(setup["convert"], sum(f["convert_ms"] for f in record["formats"])):
        yield "setup_ms.convert is not the sum of the formats'"
    if setup and record["memory"]["format_bytes"] != sum(f["bytes"] for f in record["formats"]):
        yield "memory.format_bytes is not the sum of the formats'"
    check = record["check"]
    if status == "ok" and check["method"] != "off" and not check["error_ratio"] <= 1:
        yield "status ok, and an error over its tolerance"
    if (status == "ok" and check["method"] != "off" and not check["tolerance_share"] <= 0.01
            and record["prec"] not in ("f16", "bf16")):
        yield "status ok, and a tolerance over a hundredth of the elements"
    if (status == "ok" and check["method"] != "off"
            and not 0 <= check["value_error"] <= check["tolerance_share"]):
        yield "status ok, and an error of the values beyond the tolerance"
    if (status == "ok" and check["method"] != "off"
            and check["timed"]["looked"] <= len(record["time_ms"]["samples"]).bit_length()):
        yield "fewer samples were looked at than the 1st, 2nd, 4th, 8th, ... and the last"
    if status == "ok" and check["method"] == "full" and check["seen_share"] != 1:
        yield "a full check that has not seen all"
    if record.get("nnz_c") and not close(record["compression"],
                                         record["products"] / record["nnz_c"]):
        yield "compression is not products over nnz_c"
    model = record.get("model")
    if model and model["intensity"]["all_miss"] > model["intensity"]["cold_miss"] * (1 + 1e-5):
        yield "the model has a better intensity with more misses"
    if bool(record["memory"].get("timeline")) != bool(time and operation["result"] == "sparse"):
        yield "memory.timeline, and how the result is made"
    if not time:
        return
    timeline = record["memory"].get("timeline", [])
    if [moment[0] for moment in timeline] != sorted(moment[0] for moment in timeline):
        yield "memory.timeline is out of order"
    if any(moment[1] > record["memory"]["peak_bytes"] for moment in timeline):
        yield "memory.timeline is above the peak"
    if record["memory"]["format_bytes"] > record["memory"]["peak_bytes"]:
        yield "the formats are above the peak"
    order = [time[name] for name in ("min", "p5", "median", "p95")]
    if order != sorted(order):
        yield "the quantiles of time_ms are out of order"
    if len(time["samples"]) < 6:
        if time["ci_lo"] is not None or time["ci_hi"] is not None:
            yield "an interval of fewer than 6 samples"
    elif not time["ci_lo"] <= time["median"] <= time["ci_hi"]:
        yield "the median is outside its interval"
    if time["batch"] > 1 and any(time["batch"] % i == 0 for i in range(2, time["batch"])):
        yield "time_ms.batch is not prime"
    apart = time["batch"] > 1 and time["launch"] == "graph"
    back, ends = time["back_to_back_samples"], [time["back_to_back_ci_" + e] for e in ("lo", "hi")]
    if any((x is not None) != apart for x in (time["separator"], time["back_to_back"], back)):
        yield "separator or back_to_back, and a sample whose runs cannot overlap"
    elif apart and len(back) != len(time["samples"]):
        yield "%d samples back to back beside %d" % (len(back), len(time["samples"]))
    elif apart and not close(time["back_to_back"], statistics.median(back)):
        yield "back_to_back is not the median of its samples"
    if [end is None for end in ends] != 2 * [not apart or len(back) < 6]:
        yield "an interval of back_to_back, and not one of at least 6 samples"
    elif None not in ends and not ends[0] <= time["back_to_back"] <= ends[1]:
        yield "back_to_back is outside its interval"
    if (time["launch"] == "call") != (record["device"] == "cpu") or \
            (time["launch"] == "graph" and (record["launch"] or not apart)):
        yield "time_ms.launch is %s" % time["launch"]
    if time["min"] != min(time["samples"]):
        yield "time_ms.min is not the least of the samples"
    if time["median"] > 0 and not close(record["gflops"], record["flops"] / time["median"] * 1e-6):
        yield "gflops is not flops over the median"
    if record["bound_ms"] and not close(record["efficiency"], record["bound_ms"] / time["median"]):
        yield "efficiency is not bound_ms over the median"
    if record["gather_ms"] and not close(record["gather_efficiency"],
                                         record["gather_ms"] / time["median"]):
        yield "gather_efficiency is not gather_ms over the median"
    if record["gather_ms"] and not (record["bound_ms"] or 0) <= record["gather_ms"] * (1 + 1e-6):
        yield "gather_ms is below bound_ms"
    if record["gather_ms"] and record["bytes"]["gather"] is None:
        yield "gather_ms, and nothing is gathered"


def faults(line, validator, envs):
    """What is wrong with a line, as texts, and the record. `envs` are the environments by run."""
    try:
        record = json.loads(line, parse_constant=refuse)
    except ValueError as error:
        return ["not JSON: %s" % error], {}
    schema = validator.schema
    kind = record.get("kind") if isinstance(record, dict) else None
    if kind not in ("environment", "result", "doctor"):
        return ["kind is neither environment, result nor doctor"], {}
    part = {"$ref": "#/definitions/" + kind, "definitions": schema["definitions"]}
    found = ["%s: %s" % ("/".join(map(str, error.absolute_path)) or "record", error.message[:200])
             for error in type(validator)(part).iter_errors(record)]
    if not found and kind == "result" and record["run"] not in envs:
        found = ["the environment of its run is not there"]
    elif not found and kind == "result":
        found = list(contradictions(record, envs[record["run"]], schema["definitions"]["result"]["properties"]))
    return found, record


def main(paths):
    promised = paths[:1] == ["-promised"]
    paths = paths[promised:]
    if not paths:
        sys.exit(__doc__)
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    passed = failed = 0
    records = []
    for path in paths:
        lines = pathlib.Path(path).read_bytes().decode("utf-8").splitlines()
        if not lines:
            failed += 1
            print("FAILED: %s: no records" % path)
        envs, keys = {}, set()
        for number, line in enumerate(lines, 1):
            found, record = faults(line, validator, envs)
            key = record.get("run"), record.get("case")
            if record:
                records.append(record)
            if record and record["kind"] == "environment":
                if key[0] in envs:
                    found.append("the run is there already")
                envs[key[0]] = record
            elif record and record["kind"] == "result":
                if key in keys:
                    found.append("the case is there already")
                keys.add(key)
            if number == 1 and record and record["kind"] == "result":
                found.append("the first record is a result")
            for text in found:
                print("FAILED: %s:%d: %s" % (path, number, text))
            failed += bool(found)
            passed += not found
    if promised:
        texts, fields = broken(records, schema)
        for text in texts:
            print("FAILED: %s" % text)
        failed += len(texts)
        passed += fields - len(texts)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
