#!/usr/bin/env bash
# The container of `make container`: its recipe, and its program if podman or docker can build here.
# Call: tests/make/test_container.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
# shellcheck source=tests/lib/checks.sh
. tests/lib/checks.sh
output=$work/out
tag=spbench-test-$$ engine=''
end() {
    [ -z "$engine" ] || "$engine" rmi -f "$tag" >/dev/null 2>&1
    rm -rf "$work"
}
trap end EXIT

try() { env -u MAKEFLAGS -u MFLAGS make --no-print-directory "$@"; }

# The recipe: the packages of the documents, no files of a build, and arguments of make.
# shellcheck disable=SC2016 # Markdown has backquotes
packages=$(grep -E '^\| (the program|the CUDA algorithms, too) \|' docs/installing.md | cut -d: -f1 | grep -o '`[a-z0-9+-]*`' | tr -d '`')
check 'the documents name packages' [ "$(wc -w <<<"$packages")" -ge 5 ]
for package in $packages; do
    check "it installs $package" grep -qF " $package " Containerfile
done
for path in .git build spbench; do check "it leaves out $path" grep -qx "/$path" .dockerignore; done
arguments() { # arguments TEXT ARGUMENT...: the command of make with these arguments has the text
    try -n container ENGINE=engine "${@:2}" | tee /dev/stderr | grep -qE -- "^engine build .*$1"
}
check 'the revision' arguments '--build-arg "REVISION=[^ ]+" +\.$'
check 'a CUDA build' arguments '"BASE=an/image:1" --build-arg "CUDA=1" --build-arg "ARCH=80 90" \.$' \
    BASE=an/image:1 CUDA=1 ARCH='80 90'

# Sets `engine` to a program that can build here, else prints why podman and docker cannot.
find_engine() {
    local name base
    base=$(sed -n 's/^ARG BASE=//p' Containerfile)
    for name in podman docker; do
        command -v "$name" >/dev/null || continue
        timeout 60 "$name" info >/dev/null 2>&1 || { echo "$name cannot be used"; continue; }
        "$name" image inspect "$base" >/dev/null 2>&1 || timeout 300 "$name" pull "$base" >/dev/null 2>&1 ||
            { echo "$name has no image $base"; continue; }
        engine=$name
        return
    done
}
find_engine >"$work/reasons"
if [ -z "$engine" ]; then
    reasons=$(paste -sd, "$work/reasons")
    echo "skipped: container: ${reasons:-neither podman nor docker}"
    skipped=1
else
    inside() { "$engine" run --rm "$tag" "$@"; }
    shows() { inside --version | tee /dev/stderr | grep -qF "spbench $1 ("; }
    check 'make container' try container ENGINE="$engine" TAG="$tag"
    check 'the version' shows "$(sed -n 's/^VERSION *:= //p' Makefile)"
    check 'a run' inside -device cpu -alg rowsplit,merge -reps 2 gen:band:9:1
    check 'the manual page' inside man
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
