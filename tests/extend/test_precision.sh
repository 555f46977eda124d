#!/usr/bin/env bash
# A precision is a few lines: adds a made-up one, e5m2-f32, to a copy of the sources, counts the
# files touched, builds the copy, and measures in it. Call: tests/extend/test_precision.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/checks.sh
. tests/lib/checks.sh
source=$PWD
MOST_FILES=6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir "$tree"
cp -r Makefile include kernels matrices.txt src tests tools "$tree"
cd "$tree" || exit 1

# add FILE LINE TEXT: writes the text after the first line that begins with LINE.
add() {
    AT=$2 TEXT=$3 awk '{ print } !done && index($0, ENVIRON["AT"]) == 1 { print ENVIRON["TEXT"]; done = 1 } END { exit !done }' \
        "$1" >"$work/new"
    check "$1 has the line: $2" [ $? -eq 0 ]
    cp "$work/new" "$1"
}

# Additions: the list, the conversions, the bits for plug-ins.
add src/base/precs.def 'TYPE(BF16,' \
    'TYPE(E5M2, "e5m2", "8-bit numbers", uint8_t, e5m2, F32, 0x1p-3, 57344., 0x1p-16)'
add src/base/precs.def 'MIXED(BF16_F32,' 'MIXED(E5M2_F32, "e5m2-f32", "8-bit numbers to single precision", E5M2, F32, F32)'
add src/base/prec.h 'static HOST_DEVICE inline uint16_t bf16_bits' \
    'static HOST_DEVICE inline double e5m2_value(uint8_t bits) { return small_value(8, 2, bits); }
static HOST_DEVICE inline uint8_t e5m2_bits(double x) { return (uint8_t)small_bits(8, 2, x); }'
add include/spbench_plugin.h '    SPBENCH_BF16_F32 = 32,' '    SPBENCH_E5M2 = 64,
    SPBENCH_E5M2_F32 = 128,'

touched=$(diff -rq "$source/src" src | wc -l)
touched=$((touched + $(diff -rq "$source/kernels" kernels | wc -l) + $(diff -rq "$source/include" include | wc -l)))
# shellcheck disable=SC2016 # eval expands it
check "$touched files are touched, at most $MOST_FILES" eval '[ "$touched" -gt 0 ] && [ "$touched" -le "$MOST_FILES" ]'

env -u MAKEFLAGS -u MFLAGS make -s CUDA=0 CFLAGS='-O0 -g0' BUILD="$work/build" "$work/build/spbench" >"$work/log" 2>&1
check 'it builds' [ $? -eq 0 ]
check 'without a warning' [ ! -s "$work/log" ]
grep -E -m 5 'error|warning' "$work/log"
says() { # says TEXT ARGUMENT...: the program prints the text
    XDG_CACHE_HOME=$work/cache "$work/build/spbench" "${@:2}" >"$work/out" 2>"$work/err"; grep -qF -- "$1" "$work/out"
}
shown=$work/out
check 'the help names it' says 'bf16-f32 e5m2-f32' help run
check 'the list names it' says 'e5m2-f32' list rowsplit
for case in 'spmm rowsplit' 'sddmm reference' 'spgemm gustavson'; do
    read -r op alg <<<"$case"
    axis=(-k '3,40')
    [ "$op" = spgemm ] && axis=()
    check "$op by $alg is right" says '"status":"ok"' -device cpu -op "$op" -alg "$alg" -prec e5m2-f32 "${axis[@]}" \
        -reps 2 gen:uniform:60:4
    check "$op by $alg: nothing else" [ "$(grep -c '"kind":"result"' "$work/out")" -eq "$(grep -c '"status":"ok"' "$work/out")" ]
    check "$op by $alg: its record" grep -qF '"prec":"e5m2-f32"' "$work/out"
done
check 'an algorithm without it refuses' says 'e5m2-f32 is not supported by this algorithm' -device cpu -alg rowsplit,merge -prec e5m2-f32 -k 3 \
    -reps 2 gen:uniform:60:4
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
