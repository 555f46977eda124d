#!/usr/bin/env bash
# The tarball of `make dist`: it has the sources, and its program knows version and revision without
# git. Call: tests/make/test_dist.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/lib/checks.sh
. tests/lib/checks.sh
output=$work/out
try() { env -u MAKEFLAGS -u MFLAGS make --no-print-directory "$@"; }

# make in a clone, because the tarball is written there; of the last commit, as everywhere.
check 'a clone' git clone -q "$PWD" "$work/clone"
check 'make dist' try -C "$work/clone" dist
tarball=$(echo "$work"/clone/spbench-*.tar.gz)
check 'one tarball' [ -s "$tarball" ]
check 'it unpacks' tar -C "$work" -xzf "$tarball"
folder=$work/$(basename "$tarball" .tar.gz)
version=$(sed -n 's/^VERSION *:= //p' "$folder/Makefile")
revision=$(git -C "$work/clone" rev-parse --short HEAD)
check 'the folder has the version' [ "$(basename "$folder")" = "spbench-$version" ]
check 'no git' [ ! -e "$folder/.git" ]
for file in README.md CHANGELOG.md LICENSE Makefile Containerfile .dockerignore src/cli/main.c kernels/spmm/merge/merge.c docs/records.md tests/run.sh; do
    check "it has $file" cmp "$work/clone/$file" "$folder/$file"
done
object=build/cpu/src/records/record_parts.c.o
check 'an object' try -C "$folder" CUDA=0 "$object"
check 'version' grep -qF "$version" "$folder/$object"
check "revision $revision" grep -qF "${revision:0:7}" "$folder/$object"

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
