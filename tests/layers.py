#!/usr/bin/env python3
"""Includes go strictly downwards: a file of src/ or kernels/ includes only what stands before it here.

To add a file: put its name where it belongs; names of one layer are in order too. A name stands for
its whole family (mtx for mtx.c, mtx_body.h, ...), within which includes are free; a member that stands
higher than its family is listed too.
"""
import pathlib
import re
import sys

LAYERS = {
    "base": "base text",
    "data": "matrix mtx gen stats load",
    "formats": "sellp tile16",
    "device": "cuda device roof device_cpu device_cuda",
    "algorithms": "op algo algos papers kernel cub cusparse cpu kernels/*",
    "measuring": "timing prepare check model",
    "running": "bench json record",
    "program": "table suggest options choose cli main",
}

root = pathlib.Path(__file__).resolve().parent.parent
order = {}
for layer, names in LAYERS.items():
    for name in names.split():
        order[name] = len(order)
passed = failed = 0


def family(path):
    return path.name.split(".")[0].split("_")[0]


def place(path):
    """Position of a file, or None if the table does not know it."""
    for name in (path.name.split(".")[0], family(path)):
        if name in order:
            return order[name]
    return order["kernels/*"] if path.parent.name == "kernels" else None


files = [p for folder in ("src", "kernels") for p in sorted((root / folder).iterdir())
         if p.suffix in (".c", ".h", ".cu", ".cuh", ".inl", ".def")]
names = {p.name: p for p in files}
for path in files:
    here = place(path)
    if here is None:
        failed += 1
        print(f"FAILED: {path.relative_to(root)} is in no layer of tests/layers.py")
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not match:
            continue
        other = names.get(pathlib.Path(match[1]).name)
        own = other and (family(other) == family(path) or
                         other.suffix == ".inl" and other.parent == path.parent)
        if other and (own or place(other) is not None and place(other) < here):
            passed += 1
        else:
            failed += 1
            print(f"FAILED: {path.relative_to(root)}:{number}: includes {match[1]}, "
                  "which is not below it")
for name in order:
    if name != "kernels/*" and not any(name in (family(p), p.name.split(".")[0]) for p in files):
        failed += 1
        print(f"FAILED: tests/layers.py lists {name}, which is no file")
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed != 0)
