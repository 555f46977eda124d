#!/usr/bin/env python3
"""Includes go strictly downwards: a file of src/ or kernels/ includes only what stands before it here.

To add a file: put its name (without its ending) where it belongs; names of one layer are in order too.
"""
import pathlib
import re
import sys

LAYERS = {
    "base": "base text",
    "data": "matrix mtx_number mtx mtx_body mtx_write gen gen_kinds stats load",
    "formats": "sellp",
    "device": "cuda device roof device_cpu device_cuda roof_cpu roof_cuda",
    "algorithms": "op algo algos.def algos kernel cpu cpu_row kernels/*",
    "measuring": "timing prepare check model",
    "running": "bench json record",
    "program": "table suggest options choose cli cli_list cli_matrix cli_roof cli_run main",
}

root = pathlib.Path(__file__).resolve().parent.parent
order = {}
for layer, names in LAYERS.items():
    for name in names.split():
        order[name] = len(order)
passed = failed = 0


def place(path):
    """Position of a file, or None if the table does not know it."""
    stem = path.name if path.name in order else path.name.split(".")[0]
    if stem in order:
        return order[stem]
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
        own = other and (other.stem == path.stem or
                         other.suffix == ".inl" and other.parent == path.parent)
        if other and (own or place(other) is not None and place(other) < here):
            passed += 1
        else:
            failed += 1
            print(f"FAILED: {path.relative_to(root)}:{number}: includes {match[1]}, "
                  "which is not below it")
for name in order:
    if name != "kernels/*" and not any(p.name == name or p.name.split(".")[0] == name for p in files):
        failed += 1
        print(f"FAILED: tests/layers.py lists {name}, which is no file")
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed != 0)
