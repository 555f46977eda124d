#!/usr/bin/env python3
"""tools/ci: the script and the workflow that calls it: test_ci.py SPBENCH.

The script compares two programs, two folders and two revisions of a repository made up for it. Each
`run:` line of the workflow is run there.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

from checks import check, end, skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "ci" / "compare.sh"
WORKFLOW = ROOT / "tools" / "ci" / "compare.yml"
QUICK = "-device cpu -threads 1 -alg merge -k 2 -budget 0.001 gen:band:9:1"
spbench = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "spbench").resolve()


def run(command, folder, **env):
    """Exit status and output of a command in bash, started as a workflow starts bash."""
    done = subprocess.run(["bash", "-e", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, env={**os.environ, **env}, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def repository(folder):
    """Makes a repository whose `make spbench` copies the program. Its two revisions differ in a file."""
    folder.mkdir()
    (folder / "Makefile").write_text("spbench:\n\tcp %s $@\ndeps:\n\ttrue\n" % spbench)
    (folder / "tools").symlink_to(ROOT / "tools")
    git = "git -c user.name=x -c user.email=x@localhost -c init.defaultBranch=main"
    for command in (git + " init -q", "git add Makefile", git + " commit -qm 1", "touch two", "git add two",
                    git + " commit -qm 2"):
        status, said = run(command, folder)
        check(status == 0, "%s: %s" % (command, said))


def compares(folder, old, new):
    """Runs the script on two versions: `out` has the reports and nothing else."""
    status, said = run("%s out %s %s %s" % (SCRIPT, old, new, QUICK), folder)
    check(status in (0, 1, 3), "%s and %s: status %d: %s" % (old, new, status, said))
    out = folder / "out"
    names = sorted(path.name for path in out.iterdir()) if out.is_dir() else []
    check(names == ["junit.xml", "report.md", "run.new.jsonl", "run.old.jsonl"], "files: %s" % names)
    check("new / old" in said, "no table: %s" % said)
    if len(names) == 4:
        suite = xml.parse(out / "junit.xml").find("testsuite")
        check(suite.get("tests") == "1", "junit.xml: %s" % suite.attrib)
        check((out / "report.md").read_text().startswith("### spbench compare: "), "report.md")
    shutil.rmtree(out, ignore_errors=True)


def test_script(folder):
    compares(folder, spbench, spbench)
    compares(folder, "HEAD~1", ".")
    check(run("git worktree list | wc -l", folder)[1].strip() == "1", "a working tree is left")
    status, said = run("%s out" % SCRIPT, folder)
    check(status == 2 and said.startswith("usage: tools/ci/compare.sh OUT OLD NEW"), "usage: %d: %s" % (status, said))
    for status_wanted in "0123":
        check("\n  %s    " % status_wanted in said, "usage: status %s" % status_wanted)
    status, said = run("%s out no/such . %s" % (SCRIPT, QUICK), folder)
    check(status == 2 and "no/such: no program, no folder" in said, "no version: %d: %s" % (status, said))
    (folder / "broken").mkdir()
    (folder / "broken" / "Makefile").write_text("spbench:\n\tfalse\n")
    status, said = run("%s out broken . %s" % (SCRIPT, QUICK), folder)
    check(status == 2 and "broken does not build" in said, "a broken version: %d: %s" % (status, said))
    shutil.rmtree(folder / "out", ignore_errors=True)


def test_workflow(folder):
    try:
        import yaml
    except ImportError:
        return skip("the workflow of tools/ci: python3-yaml is not installed")
    workflow = yaml.safe_load(WORKFLOW.read_text())
    job, = workflow["jobs"].values()
    check(set(job["env"]) == {"OLD", "NEW", "CASES"}, "env: %s" % job["env"])
    lines = [step["run"] for step in job["steps"] if "run" in step]
    # Options and matrices are right: only the old program is missing.
    status, said = run("%s compare -ab no/such $CASES" % spbench, folder, CASES=job["env"]["CASES"])
    check(status == 3 and "no/such: cannot be started" in said, "CASES: %d: %s" % (status, said))
    quick = {"OLD": "HEAD~1", "NEW": job["env"]["NEW"], "CASES": QUICK, "GITHUB_STEP_SUMMARY": str(folder / "summary")}
    for line in lines:
        status, said = run(line, folder, **quick)
        allowed = (0, 1) if "compare.sh" in line else (0,) # 1: on a busy machine
        check(status in allowed, "%s: %d: %s" % (line, status, said))
    check((folder / "summary").is_file() and "spbench compare" in (folder / "summary").read_text(), "no summary")
    for step in job["steps"]:
        path = step.get("with", {}).get("path")
        check(not path or (folder / path).is_dir(), "%s is not there" % path)
    check(run("make -n deps", ROOT)[0] == 0, "make deps")
    # A regression fails the job, an unclear case does not.
    fake = folder / "fake"
    fake.write_text("#!/bin/sh\nexit $STATUS\n")
    fake.chmod(0o755)
    line, = [line for line in lines if "compare.sh" in line]
    for status, fails in ((0, False), (1, True), (2, True), (3, False), (130, True)):
        got, said = run(line, folder, **{**quick, "OLD": "./fake", "NEW": "./fake", "STATUS": str(status)})
        check((got != 0) == fails, "status %d ends the job with %d: %s" % (status, got, said))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "repository"
        repository(folder)
        test_script(folder)
        test_workflow(folder)
    end()


if __name__ == "__main__":
    main()
