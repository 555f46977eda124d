#!/usr/bin/env python3
"""algos.def against kernels/: every file has a line, every line a file that exports its descriptor."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
passed = failed = 0


def check(good, text):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {text}")


lines = re.findall(r'^ALGO\((\w+), (\w+), "([^"]+)", (\w+)\)',
                   (root / "src/algos.def").read_text(), re.M)
check(lines, "algos.def has no lines")
used = set()
for op, symbol, name, build in lines:
    ext = ".c" if build == "CPU" else ".cu"
    words = symbol.split("_")
    # The file of the whole symbol, else of the family it belongs to.
    paths = [root / "kernels" / f"{op}_{'_'.join(words[:n])}{ext}" for n in range(len(words), 0, -1)]
    path = next((p for p in paths if p.exists()), None)
    check(path, f"ALGO({op}, {symbol}): no file {paths[0].name}")
    if path:
        used.add(path)
        check(f'"{name}"' in path.read_text() or path != paths[0],
              f"{path.name}: no descriptor is named {name}")
    check(name == symbol.replace("_", "-"), f"ALGO({op}, {symbol}): the name {name} does not match")
check(len({(op, name, build == "CPU") for op, _, name, build in lines}) == len(lines),
      "algos.def lists a name twice")
for path in sorted([*(root / "kernels").glob("*.c"), *(root / "kernels").glob("*.cu")]):
    check(path in used, f"kernels/{path.name} has no line in algos.def")

# Each kernel file exports descriptors and nothing else: `static` or a descriptor at column 0.
for path in sorted((root / "kernels").glob("*.c")):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if re.match(r"[a-z].*\)$", line):
            check(line.startswith("static"), f"kernels/{path.name}:{number}: not static: {line}")
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed != 0)
