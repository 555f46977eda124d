#!/usr/bin/env bash
# Golden command-line tests: run.sh [SPBENCH [NAME.test...]] runs the commands of tests/cli/*.test
# and compares what they print, and how they end, with what the file says.
#
# A test file has, after comments (#):
#   @ no-cuda | cuda    only where there is none | a CUDA device
#   $ COMMAND           a line for bash, in an empty folder where `data` is tests/data
#   1> TEXT             a line of its stdout; 1> ... is any number of lines, ... within a line is any text
#   2> TEXT             the same of its stderr
#   ? STATUS            how it ends; left out: 0
#   ! COMMAND           as $, but it ends with status 2: a mistake in the command
set -u
here=$(cd "$(dirname "$0")" && pwd)
binary=$(realpath "${1:-$here/../../spbench}")
shift
[ -x "$binary" ] || { echo "run.sh: $binary: no such program"; exit 1; }
[ $# -gt 0 ] || set -- "$here"/*.test

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$binary" "$work/bin/spbench"
PATH=$work/bin:$PATH
export XDG_CACHE_HOME="${XDG_CACHE_HOME:-$work/cache}"
# Whether the machine has MKL must not matter: there is none, but for tests of it, which have one made up.
export MKL_RT=/no/such/libmkl_rt.so
FAKE_MKL=$(dirname "$binary")/tests/mkl
FAKE_NVML=$(dirname "$binary")/tests/nvml
export FAKE_MKL FAKE_NVML
passed=0 failed=0 skipped=0
if spbench list devices | grep -q '^ *cuda *unavailable'; then has=no-cuda; else has=cuda; fi

# as_pattern TEXT: sets `pattern` to a glob for it, in which ... stands for any text.
as_pattern() {
    local special
    pattern=$1
    for special in \\ '*' '?' '['; do
        pattern=${pattern//"$special"/\\"$special"}
    done
    pattern=${pattern//.../'*'}
}

# matches ACTUAL_FILE EXPECTED_LINE...: every line has its match, in order.
matches() {
    local -a actual
    local any=false line i=0 found
    mapfile -t actual <"$1"
    shift
    for line; do
        if [ "$line" = '...' ]; then
            any=true
            continue
        fi
        as_pattern "$line"
        found=false
        while [ "$i" -lt "${#actual[@]}" ]; do
            # shellcheck disable=SC2053  # a pattern is what it is
            if [[ ${actual[i]} == $pattern ]]; then found=true; fi
            i=$((i + 1))
            if $found || ! $any; then break; fi
        done
        $found || return 1
        any=false
    done
    $any || [ "$i" -eq "${#actual[@]}" ]
}

# finish: compares the last command with what was expected of it.
finish() {
    [ -n "$command" ] || return 0
    rm -rf "$work/run"
    mkdir "$work/run"
    ln -s "$here/../data" "$work/run/data"
    (cd "$work/run" && timeout 120 bash -c "$command" >"$work/1" 2>"$work/2" </dev/null)
    local got=$?
    # Whether the machine is busy is not for these tests to say.
    sed -i -e '/^busy: other programs used the processors/d' -e 's/; busy\b//' "$work/1" "$work/2"
    if [ "$got" -eq "$status" ] && matches "$work/1" "${out[@]}" && matches "$work/2" "${err[@]}"; then
        passed=$((passed + 1))
        return 0
    fi
    failed=$((failed + 1))
    echo "FAILED: $name: $command"
    [ "$got" -eq "$status" ] || echo "  exit status $got, not $status"
    matches "$work/1" "${out[@]}" || sed 's/^/  1> /' "$work/1" | cut -c1-300 | head -n 30
    matches "$work/2" "${err[@]}" || sed 's/^/  2> /' "$work/2" | cut -c1-300 | head -n 30
}

for file; do
    name=$(basename "$file" .test)
    command='' skip=false
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        '@ '*)
            if [ "${line#@ }" != "$has" ]; then
                echo "skipped: cli $name: it is for machines with ${line#@ } alone"
                skipped=$((skipped + 1)) skip=true
                break
            fi
            ;;
        '$ '*)
            finish
            command=${line#'$ '} status=0 out=() err=()
            ;;
        '! '*)
            finish
            command=${line#'! '} status=2 out=() err=()
            ;;
        '1> '* | '1>') out+=("${line:3}") ;;
        '2> '* | '2>') err+=("${line:3}") ;;
        '? '*) status=${line#'? '} ;;
        '' | '#'*) ;;
        *)
            echo "FAILED: $file: cannot understand: $line"
            failed=$((failed + 1))
            ;;
        esac
    done <"$file"
    $skip || finish
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
