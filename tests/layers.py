#!/usr/bin/env python3
"""Includes go downwards: the layers are the folders of src/, in this order, with kernels/ among them.

A file includes its own folder's files and those of lower layers, by their path (`device/device.h`);
within a folder no circle closes, neither of includes nor of calls between the compiled objects of
build/cpu. A kernel includes, of kernels/, what stands above it in the tree: the files of its own folder,
of the folders that this one is in, and of a folder cpu/ in these. The header of plug-ins, in include/,
is below all layers.
"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from checks import check, end, skip

LAYERS = ("base", "data", "device", "formats", "algos", "select", "kernels", "measure", "exact", "bench", "records",
          "report", "plugin", "sweep", "compare", "doctor", "cli/options", "cli/matrices",
          "worker", "cli/commands", "cli")

root = pathlib.Path(__file__).resolve().parent.parent
objects = root / "build/cpu"


def layer(path):
    """The place of a file's layer; None outside of all."""
    folder = path.relative_to(root).parent
    name = str(folder.relative_to("src")) if folder.parts[0] == "src" else folder.parts[0]
    return LAYERS.index(name) if name in LAYERS else None


def find(path, name):
    """The project's file that an include of `path` means, or None."""
    for folder in (path.parent, root / "src", root / "kernels", root / "include"):
        if (folder / name).is_file():
            return folder / name
    return None


def allowed(path, other):
    if layer(other) != layer(path):
        return layer(other) < layer(path)
    folder = other.parent.parent if other.parent.name == "cpu" else other.parent
    return path.parent == other.parent or folder in path.parents


def circle(path, includes, above=()):
    """The files of a circle through `path`, or nothing."""
    if path in above:
        return above[above.index(path):] + (path,)
    for other in includes[path]:
        found = circle(other, includes, above + (path,))
        if found:
            return found
    return ()


def symbols(path):
    """The functions that the object of a source defines, and all symbols that the object needs."""
    output = subprocess.run(["nm", objects / (str(path.relative_to(root)) + ".o")], capture_output=True, text=True)
    fields = [line.split() for line in output.stdout.splitlines()]
    return {f[-1] for f in fields if f[-2] in "TWi"}, {f[-1] for f in fields if f[-2] == "U"}


def calls_of(sources):
    """For each source the others that it calls. A table of functions, which is data, is no call."""
    named = {path: symbols(path) for path in sources}
    return {path: [other for other in sources if other != path and named[path][1] & named[other][0]]
            for path in sources}


files = [p for folder in ("src", "kernels") for p in sorted((root / folder).rglob("*"))
         if p.suffix in (".c", ".h", ".cu", ".cuh", ".inl", ".def")]
includes = {path: [] for path in files}
for path in files:
    name = path.relative_to(root)
    if layer(path) is None:
        check(False, f"{name} is in no layer of tests/layers.py")
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*(?:include|define BODY)\s+"([^"]+)"', line)
        if not match:
            continue
        other = find(path, match[1])
        check(other is not None, f"{name}:{number}: there is no {match[1]}")
        if other and other.parent.name != "include":
            check(allowed(path, other), f"{name}:{number}: includes {match[1]}, which is not below it")
            includes[path].append(other)
for path in files:
    found = circle(path, includes)
    check(not found, "a circle: " + " -> ".join(p.name for p in found))
sources = [p for p in files if p.suffix == ".c" and layer(p) is not None]
if (objects / "spbench").exists():
    for folder in sorted({p.parent for p in sources}):
        calls = calls_of([p for p in sources if p.parent == folder])
        for path in calls:
            found = circle(path, calls)
            check(not found, "a circle of calls: " + " -> ".join(p.name for p in found))
else:
    skip("there are no objects in build/cpu to look for calls")
for name in LAYERS:
    here = root / name if name == "kernels" else root / "src" / name
    check(any(here in p.parents for p in files), f"layer {name} has no files")
end()
