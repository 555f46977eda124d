#!/usr/bin/env python3
"""Each format of `spbench compare`, by what reads it: test_verdict_formats.py SPBENCH.

Records are made up: names that XML, Markdown and JSON have to escape, and every verdict.
"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import jsonschema

sys.dont_write_bytecode = True

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

from checks import check, end

spbench = pathlib.Path(sys.argv[1]).resolve()

NASTY = 'a<b>&"c"|d*`e\'é[x](y)~\ufffe'
IN_XML = NASTY.replace("\ufffe", "?")  # XML has no such character
NUMBER = {"type": ["number", "null"]}
SIDE = {"type": "object", "additionalProperties": False, "required": ["ms", "gflops", "processes", "used"],
        "properties": {"ms": NUMBER, "gflops": NUMBER, "processes": {"type": "integer"}, "used": {"type": "integer"}}}
CASE = {"case": {"type": "string"}, "alg": {"type": "string"}, "matrix": {"type": "string"},
        "verdict": {"enum": ["slower", "newly failing", "newly wrong", "unclear", "drifted?", "missing", "unchecked", "faster", "same",
                             "mended", "added", "no time"]},
        "why": {"type": ["string", "null"]}, "old": SIDE, "new": SIDE, "ratio": NUMBER, "ratio_lo": NUMBER,
        "ratio_hi": NUMBER, "p": NUMBER, "p_of_all": NUMBER, "spread": NUMBER, "by_turns": {"type": "boolean"},
        "guessed": {"type": "boolean"}, "throttled": {"type": "integer"}, "busy": {"type": "integer"}}
SUMMARY = {"verdicts": {"type": "object"}, "timed": {"type": "integer"}, "guessed": {"type": "integer"},
           "ratio": NUMBER, "ratio_lo": NUMBER, "ratio_hi": NUMBER, "worst": {"type": ["string", "null"]},
           "best": {"type": ["string", "null"]}, "runs_needed": {"type": ["integer", "null"]},
           "bad_lines": {"type": "integer"}}
JSON = {"type": "object", "additionalProperties": False,
        "required": ["schema", "old", "new", "old_revision", "new_revision", "old_device", "new_device",
                     "threshold_percent", "time", "conclusion", "summary", "cases"],
        "properties": {"old_revision": {"const": "1b76f4a"}, "new_revision": {"const": None},
                       "old_device": {"const": "GPU A"}, "new_device": {"const": "GPU B"},
                       "schema": {"const": "spbench-compare/1"}, "old": {"type": "string"}, "new": {"type": "string"},
                       "threshold_percent": {"type": "number"},
                       "time": {"enum": ["separate", "back-to-back"]},
                       "conclusion": {"enum": ["no regression", "regression", "cannot tell"]},
                       "summary": {"type": "object", "additionalProperties": False, "required": list(SUMMARY),
                                   "properties": SUMMARY},
                       "cases": {"type": "array", "items": {"type": "object", "additionalProperties": False,
                                                            "required": list(CASE), "properties": CASE}}}}


def line(run, name, ms, status="ok", reason=None):
    time = ms and {"median": ms, "ci_lo": ms * 0.999, "ci_hi": ms * 1.001, "samples": [ms],
                   "throttled": False, "busy": False}
    return json.dumps({"schema": "spbench/1", "kind": "result", "status": status, "reason": reason,
                       "case": f"made-up alg cpu f32 k=4 5x5:9 {name}", "op": "made-up", "alg": "alg",
                       "device": "cpu", "prec": "f32", "library": None, "run": run,
                       "matrix": {"name": name, "path": name}, "check": {"method": "full"}, "time_ms": time, "gflops": ms and 2 / ms})


def write(path, now):
    """Six processes; NEW has a case of each verdict that it can have."""
    with open(path, "w") as file:
        for i in range(6):
            run, ms = f"r{i}", 1 + 0.001 * ((i * 7 + 3 * now) % 5)
            print(json.dumps({"schema": "spbench/1", "kind": "environment", "run": run,
                              "date": f"2026-11-22T03:0{i}:00Z", "device": "GPU B" if now else "GPU A",
                              "revision": f"2b76f4{i}" if now else "1b76f4a"}), file=file)
            print(line(run, "same", ms), file=file)
            print(line(run, NASTY, ms * (1.1 if now else 1)), file=file)
            print(line(run, "quick", ms * (0.5 if now else 1)), file=file)
            print(line(run, "wild", 1 + (i + 2 * now) % 4), file=file)
            print(line(run, "gone" if not now else "more", ms), file=file)
            print(line(run, "breaks", *((None, "failed", NASTY) if now else (ms,))), file=file)
            print(line(run, "errs", *((None, "wrong") if now else (ms,))), file=file)
            print(line(run, "heals", *((ms,) if now else (None, "wrong"))), file=file)
            print(line(run, "never", None, "oom"), file=file)


def compare(old, new, form):
    done = subprocess.run([spbench, "compare", "-format", form, old, new], capture_output=True)
    check(done.returncode == 1 and not done.stderr, f"{form}: {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


def check_schema(document, schema, form):
    try:
        jsonschema.validate(document, schema)
        check(True, "")
    except jsonschema.ValidationError as error:
        check(False, f"{form}: {error.message}")


with tempfile.TemporaryDirectory() as folder:
    old, new = f"{folder}/old.jsonl", f"{folder}/new.jsonl"
    write(old, False)
    write(new, True)

    whole = json.loads(compare(old, new, "json"))
    check_schema(whole, JSON, "json")
    cases = {case["matrix"]: case for case in whole["cases"]}
    want = {"same": "same", NASTY: "slower", "quick": "faster", "wild": "unclear", "gone": "missing", "more": "added",
            "breaks": "newly failing", "errs": "newly wrong", "heals": "mended", "never": "no time"}
    check({name: case["verdict"] for name, case in cases.items()} == want, "json: the verdicts")
    check(cases["breaks"]["why"] == f"failed: {NASTY}", f"json: {cases['breaks']['why']}")
    slow = cases[NASTY]
    check(abs(slow["ratio"] - 1.1) < 0.003 and slow["ratio_lo"] < 1.1 < slow["ratio_hi"], f"json: {slow['ratio']}")
    check(whole["conclusion"] == "regression" and whole["summary"]["worst"] == slow["case"], "json: the summary")
    check(sum(whole["summary"]["verdicts"].values()) == len(want), "json: the sum of the verdicts")
    mean = math.exp(sum(math.log(c["ratio"]) for c in cases.values() if c["ratio"]) / whole["summary"]["timed"])
    check(abs(mean / whole["summary"]["ratio"] - 1) < 1e-5, "json: the mean")

    suite = xml.fromstring(compare(old, new, "junit")).find("testsuite")
    tests = {test.get("classname"): test for test in suite}
    xml_want = {name.replace(NASTY, IN_XML): verdict for name, verdict in want.items()}
    check(set(tests) == set(xml_want), f"junit: {set(tests)}")
    for name, verdict in xml_want.items():
        kinds = [child.tag for child in tests[name]]
        wanted = (["failure"] if verdict in ("slower", "newly failing", "newly wrong")
                  else ["skipped"] if verdict in ("unclear", "missing", "no time") else [])
        check(kinds == wanted, f"junit: {name}: {kinds}")
    check((suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("10", "3", "3"), f"junit: {suite.attrib}")
    check(IN_XML in tests["breaks"][0].get("message"), "junit: the reason")

    markdown = compare(old, new, "markdown").splitlines()
    rows = [row for row in markdown if row.startswith("| ")]
    check(len(rows) == len(want) + 4, f"markdown: {len(rows)} rows")
    # A cell ends with a bar that has no backslash ahead of it.
    check(all(row.replace("\\\\", "").replace("\\|", "").count("|") == 7 for row in rows), "markdown: the cells")
    # Besides its own tags, the report has no character of HTML and no link without a backslash.
    tags = ("<details><summary>", "</summary>", "</details>")
    for row in markdown:
        for tag in tags:
            row = row.replace(tag, "")
        check(not re.search(r"(?<!\\)[<>&\[\]`*~]", row.replace("\\\\", "")), f"markdown: not escaped: {row}")
    check(any(row.startswith("- worst: ") and "a\\<b\\>" in row for row in markdown), "markdown: the summary")

    table = compare(old, new, "table").splitlines()
    check(table[0].endswith("old.jsonl (1b76f4a, GPU A), NEW " + new + " (2b76f40 and others, GPU B)"), table[0])
    check("devices differ: OLD GPU A, NEW GPU B" in table, "table: the devices")
    check(table[-1] == "regression" and any(r.startswith("10 cases: 1 slower, 1 newly failing, 1 newly wrong, 1 unclear")
                                            for r in table), f"table: {table[-6:]}")

end()
