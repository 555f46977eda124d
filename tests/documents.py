#!/usr/bin/env python3
"""README.md, CHANGELOG.md and docs/: documents.py SPBENCH. Limits of size, links, and the commands of fenced blocks.

bash runs a block with the language `sh` in a scratch folder, one folder per page, with spbench on the
PATH and links to parts of the source. The status must be 0. A block of another language that shows
commands follows a line `<!-- not run: REASON -->`. A block after `<!-- output of: COMMAND -->` is the output of the command.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from checks import check, end

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMITS = {"README.md": {"lines": 150, "bytes": 12 * 1024, "words": 1500}}
LIMITS["docs/columns.md"] = {"lines": 300}  # the output of a command
PAGE_LIMITS = {"lines": 200}
COMMAND = re.compile(r"(\$ |\./|spbench |make( |$)|git |plots/|tools/|sudo |apt|pip|python3 )")
NOT_RUN = re.compile(r"<!-- not run: \S.* -->")
NO_COMMANDS = {"python", "c", "json", "mtx"}  # languages of blocks that are not typed into a shell
BLOCK_SECONDS = 120
SOURCE = ("plots", "results", "matrices.txt", "tests")  # linked into the scratch folders


class Block:
    """A fenced block: its language, its text, the number of its first line, and the line above it."""

    def __init__(self, language, line, above):
        self.language, self.line, self.above, self.lines = language, line, above, []

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


def blocks_of(text):
    """The fenced blocks of a page, in order; the last one may lack its end."""
    found, open_block, above = [], None, ""
    for number, line in enumerate(text.split("\n"), 1):
        fence = re.match(r"\s*```(\S*)\s*$", line)
        if fence and open_block:
            open_block = None
        elif fence:
            open_block = Block(fence[1], number, above)
            found.append(open_block)
        elif open_block:
            open_block.lines.append(line)
        above = line.strip() or above
    return found


def sizes(text):
    return {"lines": text.count("\n"), "bytes": len(text.encode()), "words": len(text.split())}


def heading_ids(text):
    """The anchors of a page's headings, as its viewers make them."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            for title in re.findall(r"^#+ (.*)$", text, re.M)}


def test_links(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.S)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path) if path else page
        check(file.exists(), "%s: link to %s: no such file" % (page.name, target))
        if anchor and file.suffix == ".md" and file.is_file():
            check(anchor in heading_ids(file.read_text(encoding="utf-8")),
                  "%s: link to %s: no such heading" % (page.name, target))


def test_shown(page, blocks):
    """Commands of a page are run, or the page has a reason why not."""
    for block in blocks:
        if block.language == "sh" or block.language in NO_COMMANDS or NOT_RUN.search(block.above):
            continue
        shown = [line for line in block.lines if COMMAND.match(line.strip())]
        check(not shown, "%s:%d: neither run nor marked as not run: %s"
              % (page.name, block.line, shown[:1]))


def test_run(page, blocks, folder, env):
    for block in blocks:
        if block.language != "sh" or NOT_RUN.search(block.above):
            continue
        try:
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", block.text], cwd=folder, env=env,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=BLOCK_SECONDS, check=False)
            said = done.stdout.decode(errors="replace")[-600:]
            check(done.returncode == 0, "%s:%d: status %d: %s\n%s"
                  % (page.name, block.line, done.returncode, block.text, said))
        except subprocess.TimeoutExpired:
            check(False, "%s:%d: longer than %d s: %s"
                  % (page.name, block.line, BLOCK_SECONDS, block.text))


def test_output(page, blocks, env):
    """A block after `<!-- output of: COMMAND -->` is the output of the command."""
    for block in blocks:
        mark = re.search(r"<!-- output of: (\S.*) -->", block.above)
        if not mark:
            continue
        printed = subprocess.run(["bash", "-c", mark[1]], env=env, stdout=subprocess.PIPE, check=False).stdout
        check(printed.decode() == block.text, "%s:%d: is not what '%s' prints"
              % (page.name, block.line, mark[1]))


def test_page(page, scratch, env):
    text = page.read_text(encoding="utf-8")
    for what, most in LIMITS.get(str(page.relative_to(ROOT)), PAGE_LIMITS).items():
        found = sizes(text)[what]
        check(found <= most, "%s: %d %s, at most %d" % (page.name, found, what, most))
    blocks = blocks_of(text)
    check(text.count("```") == 2 * len(blocks), "%s: a block without an end" % page.name)
    test_links(page, text)
    test_shown(page, blocks)
    test_version(page, text)
    test_output(page, blocks, env)
    folder = scratch / page.stem
    folder.mkdir()
    for name in SOURCE:
        (folder / name).symlink_to(ROOT / name)
    test_run(page, blocks, folder, env)


def version_of_makefile():
    return re.search(r"^VERSION *:= (\S+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)[1]


def test_version(page, text):
    """Output that a page shows has the version of the Makefile."""
    version = version_of_makefile()
    for shown in re.findall(r"^spbench ([0-9.]+) ", text, re.M):
        check(shown == version, "%s: shows version %s, the Makefile has %s" % (page.name, shown, version))


def test_changes(binary):
    """The first version of CHANGELOG.md is that of the Makefile. The page names every command."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+)$", text, re.M)
    check(versions[:1] == [version_of_makefile()], "CHANGELOG.md: the first version is %s" % versions[:1])
    shown = subprocess.run([binary, "help"], stdout=subprocess.PIPE, check=True).stdout.decode()
    commands = re.findall(r"^  spbench ([a-z]\S*) ", shown, re.M)
    check(commands, "spbench help lists commands")
    for command in commands:
        check("`%s`" % command in text, "CHANGELOG.md: does not name the command %s" % command)


def test_itself():
    """Blocks, marks, commands and anchors of a small page."""
    found = blocks_of("a\n```sh\nspbench x\n```\n<!-- not run: no GPU -->\n\n```text\nmake\n```\n")
    check([(b.language, b.text, b.line) for b in found] ==
          [("sh", "spbench x\n", 2), ("text", "make\n", 7)], "blocks of a page")
    check(bool(NOT_RUN.search(found[1].above)) and not NOT_RUN.search(found[0].above), "marks of blocks")
    check(COMMAND.match("spbench list") and not COMMAND.match("spbenchmark"), "what a command is")
    check(heading_ids("# What is it?\n## ms\n") == {"what-is-it", "ms"}, "anchors")


def main():
    binary = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "spbench").resolve()
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md"] + sorted((ROOT / "docs").glob("*.md"))
    check(len(pages) > 2 and pages[0].is_file(), "README.md and docs/ are there")
    test_itself()
    test_changes(binary)
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        (scratch / "bin").mkdir()
        (scratch / "bin" / "spbench").symlink_to(binary)
        env = {**os.environ, "PATH": "%s:%s" % (scratch / "bin", os.environ["PATH"]),
               "MKL_RT": "/no/such/libmkl_rt.so"}
        env.setdefault("XDG_CACHE_HOME", str(scratch / "cache"))
        for page in pages:
            test_page(page, scratch, env)
    end()


if __name__ == "__main__":
    main()
