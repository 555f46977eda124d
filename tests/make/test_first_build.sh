#!/usr/bin/env bash
# The first build on a machine that lacks a package: a line names the package. Compilers, nvidia-smi
# and apt-get are stubs; nothing is built or installed. Call: tests/make/test_first_build.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/lib/checks.sh
. tests/lib/checks.sh
output=$work/out
stub() { # stub FILE: a program of the lines of stdin
    mkdir -p "$(dirname "$work/$1")"
    { echo '#!/bin/sh' && cat; } >"$work/$1"
    chmod +x "$work/$1"
}
build=$work/build
try() { env -u MAKEFLAGS -u MFLAGS make --no-print-directory -j2 BUILD="$build" "$@"; }
# says TEXT ARGUMENT...: make with these arguments fails, prints one line that has the text, and
# compiles nothing.
says() {
    rm -rf "$build"
    try "${@:2}" "$build/spbench" >"$work/said" 2>&1
    local status=$?
    cat "$work/said"
    [ "$status" -ne 0 ] && [ "$(wc -l <"$work/said")" -eq 1 ] && grep -qF -- "$1" "$work/said" &&
        [ -z "$(find "$build" -name '*.o')" ]
}
# without TEXT FILE: a compiler that finds no headers with this text in their name.
without() { echo "! grep -q '$1'" | stub "$2"; }

stub good/cc </dev/null
without cJSON cjson/cc
without zlib zlib/cc
without include none/cc
check 'no compiler' says "missing packages: gcc" CUDA=0 CC=/no/such/cc
check 'no compiler: the cure' says "'make deps' installs them" CUDA=0 CC=/no/such/cc
check 'no cJSON' says "missing packages: libcjson-dev;" CUDA=0 CC="$work/cjson/cc"
check 'no zlib' says "missing packages: zlib1g-dev;" CUDA=0 CC="$work/zlib/cc"
check 'no header at all' says "missing packages: libc6-dev libcjson-dev zlib1g-dev;" CUDA=0 CC="$work/none/cc"
check 'a compiler with an option' says "missing packages: zlib1g-dev;" CUDA=0 CC="$work/zlib/cc -pipe"

# The CUDA flavour: the architectures that nvcc builds for.
printf 'echo compute_75\necho compute_90\n' | stub new/bin/nvcc
echo 'exit 1' | stub old/bin/nvcc
cuda() { echo CUDA=1 CC="$work/good/cc" CUDA_HOME="$work/$1"; }
read -ra new <<<"$(cuda new)"
read -ra old <<<"$(cuda old)"
read -ra absent <<<"$(cuda absent)"
check 'a GPU that nvcc does not know' says 'nvcc does not build for 120: set ARCH= to some of 75 90,' "${new[@]}" ARCH='90 120'
check 'a GPU that nvcc does not know: the cure' says 'install another CUDA toolkit, or build with CUDA=0' "${new[@]}" ARCH=120
check 'no nvcc' says "no nvcc in '$work/absent/bin': set CUDA_HOME=, or build with CUDA=0" "${absent[@]}"
check 'the compiler comes first' says 'missing packages: gcc' "${new[@]}" CC=/no/such/cc ARCH=120
passes() { rm -rf "$build" && try "$@" "$build/checked"; }
check 'GPUs that nvcc knows' passes "${new[@]}" ARCH='75 90'
check 'an nvcc that does not tell' passes "${old[@]}" ARCH=120

# The check is made once.
check 'a machine that lacks nothing' passes CUDA=0 CC="$work/good/cc"
check 'a second look is left out' try -q CUDA=0 CC="$work/good/cc" "$build/checked"
check 'other flags are looked at anew' [ "$(try -q CUDA=0 CC="$work/good/cc" CFLAGS=-O0 "$build/checked"; echo $?)" = 1 ]

# The revision of a build: of its own repository, or of the archive, but not of a repository around it.
revision() { # FOLDER
    env -u MAKEFLAGS -u MFLAGS -u GIT_DIR make -s -C "$1" CUDA=0 BUILD="$build" \
        --eval="$print" revision 2>/dev/null
}
# shellcheck disable=SC2016 # git and make expand these
format='$Format:%h$' print='revision: ; @echo "$(REVISION)"'
sources=$work/sources
as_git() { git -C "$1" -c user.name=x -c user.email=x@localhost "${@:2}" >/dev/null 2>&1; }
mkdir -p "$sources/tools" "$sources/tests" "$work/around/inside" "$work/alone"
cp Makefile .gitattributes "$sources"
echo "$format" >"$sources/.revision"
cp tools/install.mk "$sources/tools" && cp tests/tests.mk "$sources/tests"
for folder in "$sources" "$work/around"; do
    as_git "$folder" init -q && as_git "$folder" add . && as_git "$folder" commit --allow-empty -qm "$folder"
done
own=$(git -C "$sources" rev-parse --short HEAD)
git -C "$sources" archive -o "$work/sources.tar" HEAD
for folder in around/inside alone; do tar -xf "$work/sources.tar" -C "$work/$folder"; done
check 'the revision of a clone' [ "$(revision "$sources")" = "$own" ]
echo '# an edit' >>"$sources/Makefile"
check 'the revision of an edited clone' [ "$(revision "$sources")" = "$own-dirty" ]
check 'the revision of an archive' [ "$(revision "$work/alone")" = "$own" ]
check 'the revision of an archive in another repository' [ "$(revision "$work/around/inside")" = "$own" ]
echo "$format" >"$work/alone/.revision"
check 'copied sources have no revision' [ "$(revision "$work/alone")" = unknown ]
rm "$work/alone/.revision"
check 'no revision at all' [ "$(revision "$work/alone")" = unknown ]

# The demo builds CUDA code for a machine with a GPU alone.
printf 'echo "GPU 0: a GPU (UUID: GPU-0)"\n' | stub gpu/nvidia-smi
echo 'echo "No devices were found"; exit 6' | stub no-gpu/nvidia-smi
demo() { PATH=$work/$1:$PATH try "${new[@]}" -n demo 2>&1 | grep "'demo: build"; }
check 'a demo without a GPU' grep -q 'for the CPU alone: no GPU was found' <<<"$(demo no-gpu)"
check 'a demo with a GPU' grep -q 'demo: build (' <<<"$(demo gpu)"

# deps.sh on a machine that has nothing: the list and the command come before the first package.
for tool in bash id mktemp rm tail cat env; do
    mkdir -p "$work/bare"
    ln -s "$(command -v "$tool")" "$work/bare/$tool"
done
echo 'echo 0' | stub root/id
echo "cat \"$work/said\" >\"$work/before\"; echo \"\$*\" >>\"$work/installed\"" | stub root/apt-get
deps() { # deps WORD: $work/said has the output, $work/installed the packages
    rm -f "$work/installed"
    PATH=$work/root:$work/bare CC=/no/such/cc bash tests/deps.sh "$1" >"$work/said" 2>&1
}
for word in '' demo tests; do
    check "deps.sh $word" deps "$word"
    check "deps.sh $word: the list" grep -q '^missing packages: gcc .*python3' "$work/said"
    check "deps.sh $word: the command" grep -q '^  apt-get install -y .* gcc ' "$work/said"
    check "deps.sh $word: first the list, then apt-get" cmp "$work/said" "$work/before"
    check "deps.sh $word: gcc is installed" grep -q '^install .* gcc ' "$work/installed"
done
check 'the tests need shellcheck' grep -q shellcheck "$work/said"
check 'CUDA code needs g++' [ "$(FLAVOUR=cuda deps demo; grep -c '^missing packages: gcc .*g++ python3' "$work/said")" = 1 ]
deps demo
check 'the demo needs no shellcheck' [ "$(grep -cE 'shellcheck|valgrind|curl|g\+\+' "$work/said")" = 0 ]
rm "$work/root/apt-get"
check 'without apt-get' [ "$(deps demo; echo "$?: $(cut -c1-52 "$work/said")")" = \
    '1: please install these packages (names of Debian): gcc' ]

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
