#!/usr/bin/env python3
"""algos.def against kernels/: every line has a file, every file a line, and each exports what a descriptor needs.
Every shell script and workflow of tools/ is named by a test.

A line ALGO(op, a_b, ...) is of the family a_b or a: kernels/op/a_b.c, kernels/op/a.c, or the same in a
folder of the family's name. The compiler compares the descriptors with the list.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from checks import check, end

root = pathlib.Path(__file__).resolve().parent.parent


lines = re.findall(r'^ALGO\((\w+), (\w+), "([^"]+)", (\w+), "([^"]+)"\)$',
                   (root / "src/algos/algos.def").read_text(), re.M)
check(lines, "algos.def has no lines")
used = set()
ideas = {}
for op, symbol, name, device, idea in lines:
    check(ideas.setdefault((op, name), idea) == idea,
          f"ALGO({op}, {symbol}): another idea on another device: {idea}")
    words = symbol.split("_")
    families = ["_".join(words[:n]) for n in range(len(words), 0, -1)]
    paths = [root / "kernels" / op / place for family in families
             for place in (f"{family}.c", f"{family}/{family}.c")]
    path = next((p for p in paths if p.exists()), None)
    check(path, f"ALGO({op}, {symbol}): no file kernels/{op}/{families[0]}.c")
    used.add(path)
    check(name == symbol.replace("_", "-"), f"ALGO({op}, {symbol}): the name {name} does not match")
check(len({(op, name, device) for op, _, name, device, _ in lines}) == len(lines),
      "algos.def lists a name twice")

# A source without a line has the functions of the descriptor beside it, or is a part of a family that
# another source leads.
for path in sorted(p for p in (root / "kernels").rglob("*") if p.suffix in (".c", ".cu")):
    leader = path.parent / f"{path.parent.name}.c"
    check(path.with_suffix(".c") in used or leader in used,
          f"{path.relative_to(root)} has no line in algos.def")

# A kernel file in C exports descriptors and nothing else: a line of C begins with `static`, or one of these.
# The functions that it names for a device are needed from .cu files.
FUNCTION = "(?:choose|prepare|run|finish|release|teardown)"
needed = set()
for path in sorted((root / "kernels").rglob("*.[ch]")):
    text = path.read_text()
    for number, line in enumerate(text.splitlines(), 1):
        if path.suffix == ".c" and re.match(r"[a-z].*\)$", line):
            check(line.startswith("static"), f"{path.relative_to(root)}:{number}: not static: {line}")
    needed |= set(re.findall(rf"\b\w+_cuda_{FUNCTION}\b", text))
    for name in re.findall(r"FUNCTIONS_OF\((\w+)\)", text):
        needed |= {f"{name}_{function}" for function in ("prepare", "run", "teardown")}

# Names of these functions. The linker accepts a wrong name, because all these names are weak.
exported = set()
for path in sorted((root / "kernels").rglob("*.cu")):
    exported |= set(re.findall(r'^extern "C" (?:int|void) (\w+)\(', path.read_text(), re.M))
check(needed == exported, f"no .cu file defines {needed - exported}, no descriptor names {exported - needed}")

# The emulator cannot tell whether a kernel that starts early waits before it writes.
for path in sorted((root / "kernels").rglob("*.cu*")):
    text = path.read_text()
    if "LAUNCH_EARLY" not in text:
        continue
    near = [path.parent / name for name in re.findall(r'#include "(\w+\.cuh)"', text)]
    waits = re.compile(r"\bwait_for_previous(\(\)|_after\(\w[\w.]*\));")
    check(any(waits.search(of.read_text()) for of in [path, *near] if of.exists()),
          f"{path.relative_to(root)} launches a kernel early, and none waits there")
    if path.suffix != ".cu":
        continue # what a kernel writes is in functions that it calls
    for kernel in re.findall(r"__global__(?:.|\n)*?\n}\n", text):
        wait, store = kernel.find("wait_for_previous();"), re.search(r"\ba\.C\[[^]]*\] = ", kernel)
        check(0 <= wait and store and wait < store.start(),
              f"{path.relative_to(root)} launches a kernel early that does not wait before it writes")

# Shell scripts and workflows: a test names each.
tests = "".join(path.read_text() for path in (root / "tests").rglob("*") if path.suffix in (".py", ".sh"))
for path in sorted(p for p in (root / "tools").rglob("*") if p.suffix in (".sh", ".yml")):
    check(path.name in tests, f"{path.relative_to(root)}: no test names it")
end()
