#!/usr/bin/env bash
# Compares two versions of spbench: builds them, measures both by turns, writes the reports.
#
# usage: tools/ci/compare.sh OUT OLD NEW ARGUMENT...
#   OUT       folder for report.md, junit.xml and the records run.old.jsonl, run.new.jsonl
#   OLD, NEW  a program, a folder with a Makefile, or a revision of the repository
#   ARGUMENT  options of `spbench compare -ab`, and matrices
#
# exit status, that of `spbench compare`:
#   0    no regression
#   1    a case is slower, newly failing or newly wrong
#   2    wrong usage, or a version does not build
#   3    cannot tell: a case is missing, or unclear and perhaps slower; use a longer -budget
#
# make gets CUDA, ARCH and MAKEFLAGS from the environment.
# Example: tools/ci/compare.sh out origin/main . -threads 1 -alg merge,rowsplit -k 64 gen:fem:8
set -u
[ $# -ge 4 ] || { sed -n '/^# usage/,/^# Example/s/^# \{0,1\}//p' "$0"; exit 2; }
out=$1 old=$2 new=$3
shift 3
mkdir -p "$out" || exit 2
work=$(mktemp -d)
# shellcheck disable=SC2317 # called by trap
clean() {
    git worktree remove --force "$work/tree" 2>/dev/null
    rm -rf "$work"
}
trap clean EXIT

# build FOLDER PROGRAM: builds in the folder and copies its program.
build() {
    make -C "$1" -j"$(nproc)" spbench >"$work/log" 2>&1 && cp "$1/spbench" "$2" && return
    tail -n 20 "$work/log" >&2
    echo "compare.sh: $1 does not build" >&2
    exit 2
}

# program VERSION NAME: makes $work/NAME, the program of that version.
program() {
    if [ -f "$1" ] && [ -x "$1" ]; then
        cp "$1" "$work/$2"
    elif [ -f "$1/Makefile" ]; then
        build "$1" "$work/$2"
    else
        git worktree add --detach "$work/tree" "$1" >"$work/log" 2>&1 ||
            { echo "compare.sh: $1: no program, no folder with a Makefile, no revision" >&2; exit 2; }
        build "$work/tree" "$work/$2"
        git worktree remove --force "$work/tree"
    fi
}
program "$old" old
program "$new" new

# Threads that spin at barriers multiply the noise of a shared machine.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"
"$work/new" compare -ab "$work/old" -keep "$out/run" -format junit -o "$out/junit.xml" "$@"
status=$?
if [ -s "$out/junit.xml" ]; then
    "$work/new" compare -format markdown -o "$out/report.md" "$out/run.old.jsonl" "$out/run.new.jsonl"
    "$work/new" compare "$out/run.old.jsonl" "$out/run.new.jsonl"
fi
exit $status
