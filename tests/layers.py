#!/usr/bin/env python3
"""Includes go downwards: the layers are the folders of src/, in this order, with kernels/ among them.

A file includes its own folder's files and those of lower layers, by their path (`device/device.h`);
within a folder no circle closes. A kernel includes, of kernels/, what stands above it in the tree: the
files of its own folder and of the folders that this one is in.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from checks import check, end

LAYERS = ("base", "data", "device", "formats", "algos", "select", "kernels", "measure", "bench", "records", "sweep",
          "compare", "doctor", "cli/options", "cli")

root = pathlib.Path(__file__).resolve().parent.parent


def layer(path):
    """The place of a file's layer; None outside of all."""
    folder = path.relative_to(root).parent
    name = str(folder.relative_to("src")) if folder.parts[0] == "src" else folder.parts[0]
    return LAYERS.index(name) if name in LAYERS else None


def find(path, name):
    """The project's file that an include of `path` means, or None."""
    for folder in (path.parent, root / "src", root / "kernels"):
        if (folder / name).is_file():
            return folder / name
    return None


def allowed(path, other):
    if layer(other) != layer(path):
        return layer(other) < layer(path)
    return path.parent == other.parent or other.parent in path.parents


def circle(path, includes, above=()):
    """The files of a circle through `path`, or nothing."""
    if path in above:
        return above[above.index(path):] + (path,)
    for other in includes[path]:
        found = circle(other, includes, above + (path,))
        if found:
            return found
    return ()


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
        if other:
            check(allowed(path, other), f"{name}:{number}: includes {match[1]}, which is not below it")
            includes[path].append(other)
for path in files:
    found = circle(path, includes)
    check(not found, "a circle: " + " -> ".join(p.name for p in found))
for name in LAYERS:
    here = root / name if name == "kernels" else root / "src" / name
    check(any(here in p.parents for p in files), f"layer {name} has no files")
end()
