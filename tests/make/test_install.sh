#!/usr/bin/env bash
# Completion in bash, and `make install`. Call:
# tests/make/test_install.sh [SPBENCH]; it is installed into a temporary folder.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
spbench=$(realpath "${1:-$root/build/cpu/spbench}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/lib/checks.sh
. "$root/tests/lib/checks.sh"
output=$work/out

# --- completion -------------------------------------------------------------------------------

check 'the script is printed' "$spbench" completion bash
"$spbench" completion bash >"$work/spbench.bash"
if command -v shellcheck >/dev/null; then
    check 'the script passes shellcheck' shellcheck "$work/spbench.bash"
else
    skip 'no shellcheck for the completion'
fi
# shellcheck source=/dev/null
. "$work/spbench.bash"

# completes LINE WANTED: what Tab offers at the end of the line. As readline does, the function gets
# what stands behind the last letter that breaks words, and offers what replaces it.
completes() {
    COMP_LINE=$1 COMP_POINT=${#1}
    local text=${1##*[ =:]}
    COMPREPLY=()
    _spbench spbench "$text" ''
    local got="${COMPREPLY[*]-}"
    [ "$got" = "$2" ] || { echo "'$1' offers '$got', not '$2'"; false; }
}
# offers LINE WORD: the word is among what Tab offers; if it is empty, there is any.
offers() {
    COMP_LINE=$1 COMP_POINT=${#1}
    COMPREPLY=()
    _spbench spbench "${1##*[ =:]}" ''
    case " ${COMPREPLY[*]-} " in
    '  ') echo "'$1' offers nothing" && false ;;
    *" ${2:-${COMPREPLY[0]}} "*) true ;;
    *) echo "'$1' offers '${COMPREPLY[*]-}'" && false ;;
    esac
}
line() { check "completion of '$1'" completes "$@"; }

mkdir "$work/here"
touch "$work/here/web.mtx" "$work/here/doc.mtx"
cd "$work/here" || exit 1
mapfile -t commands < <("$spbench" help | sed -n 's/^  spbench \([a-z][a-z-]*\) .*/\1/p')
for command in "${commands[@]}"; do
    check "completion of $command" offers "spbench ${command:0:-1}" "$command"
    # Each option that its help shows, and no other.
    options=$("$spbench" help "$command" | sed -n 's/^  \(-[a-z-]*\) .*/\1/p' | tr '\n' ' ')
    line "spbench $command -" "${options% }"
done
line 'spbench ' "${commands[*]}"
line 'spbench do' 'doctor doc.mtx'
line 'spbench ge' 'gen gen:fem: gen:stencil: gen:rmat: gen:uniform: gen:skew: gen:band: gen:aspect: gen:sparse2d:'
line 'spbench -lay' '-layout'
line 'spbench --lay' '--layout'
line 'spbench run -lay' '-layout'
line 'spbench roof -lay' ''
line 'spbench -op sp' 'spmm spgemm'
line 'spbench -op=sp' 'spmm spgemm'
line 'spbench -alg=rows' 'rowsplit'
line 'spbench run -k 64 -alg merge,rows' 'merge,rowsplit'
line 'spbench --alg=merge,rows' 'merge,rowsplit'
line 'spbench -prec ' 'f32 f64 f16 bf16 f16-f32 bf16-f32'
line 'spbench -device c' 'cpu cuda'
line 'spbench -check=' 'auto full sample off'
line 'spbench -layout row,' 'row,row row,col'
line 'spbench -opt thr' 'threshold= threads='
line 'spbench -k ' ''
# Algorithms of the operation, and parameters of the algorithms, that stand before.
line 'spbench -op spgemm -alg gus' 'gustavson'
line 'spbench -op=sddmm -k 64 -alg gus' ''
line 'spbench --op spmm -alg merge,rows' 'merge,rowsplit'
line 'spbench -op spgemm -alg rows' ''
line 'spbench -op nonsense -alg rows' 'rowsplit'
line 'spbench -alg sellp -opt ' 'prefetch= stream= slice= pad='
line "spbench -alg 'sell*' -alg=merge -opt=sli" 'slice='
line 'spbench -alg merge -opt sli' ''
line 'spbench -alg all -opt sli' 'slice='
# What is left to bash, which offers files.
line 'spbench w' ''
line 'spbench -o w' ''
line 'spbench -q w' ''
line 'spbench -k 64 w' ''
line 'spbench -- -' ''
line 'spbench gen:st' 'stencil:'
line 'spbench info gen:s' 'stencil: skew: sparse2d:'
line 'spbench gen s' 'stencil: skew: sparse2d:'
line 'spbench list f' 'formats'
line 'spbench list ' 'algorithms devices formats'
line 'spbench completion ' 'bash'
line 'spbench help ro' 'roof'
line 'spbench help col' 'columns'
line 'spbench roof x' ''

# And in a bash that somebody types into.
if python3 -c 'import pty' 2>/dev/null; then
    check 'Tab completes as it is typed' python3 "$root/tests/cli/type_tabs.py" "$work/spbench.bash"
else
    skip 'no module pty for typing'
fi

# What takes names offers some, so that an option which is added is not forgotten.
for command in "${commands[@]}"; do
    while read -r option; do
        check "the values of $option" offers "spbench $command $option " ''
    done < <("$spbench" help "$command" | sed -n 's/^  \(-[a-z-]*\) NAMES\{0,1\} .*/\1/p')
done

# --- make install -----------------------------------------------------------------------------

cd "$root" || exit 1
place() { make -s --no-print-directory CUDA=0 "$1" DESTDIR="$work/dest dir" PREFIX=/opt; }
at="$work/dest dir/opt"
check 'make install' place install
for file in bin/spbench share/man/man1/spbench.1 share/bash-completion/completions/spbench \
    share/spbench/matrices.txt share/spbench/plots/all.py share/doc/spbench/README.md share/doc/spbench/CHANGELOG.md \
    share/doc/spbench/docs/measuring.md share/doc/spbench/LICENSE include/spbench_plugin.h; do
    check "$file is there" [ -f "$at/$file" ]
done
files() { find "$1" -maxdepth 1 -name '*.*' -type f -printf '%f\n'; }
check 'all plots are there' [ "$({ files plots && echo precs.def; } | sort)" = "$(files "$at/share/spbench/plots" | sort)" ]
"$at/bin/spbench" man >"$work/spbench.1"
"$at/bin/spbench" completion bash >"$work/spbench.bash"
check 'the manual page is that of the program' cmp "$work/spbench.1" "$at/share/man/man1/spbench.1"
check 'completion is that of the program' cmp "$work/spbench.bash" "$at/share/bash-completion/completions/spbench"
cd "$work/here" || exit 1
check 'the installed program runs' "$at/bin/spbench" info gen:band:9:3
fetch_help() { "$at/share/spbench/fetch_suitesparse.sh" -h 2>&1 | grep smoke; }
check 'the installed script finds its list, with the sets in it' fetch_help
check 'an installed plot script runs' python3 "$at/share/spbench/plots/overview.py" \
    "$root/results/h100/spgemm.jsonl.gz" -o "$work/overview.svg"
cd "$root" || exit 1
touch "$work/dest dir/opt/bin/other"
check 'make uninstall' place uninstall
check 'it leaves nothing, and what is not its own' \
    [ "$(cd "$work/dest dir" && find . ! -type d -o -name '*spbench*')" = ./opt/bin/other ]

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
