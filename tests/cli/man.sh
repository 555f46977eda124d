#!/usr/bin/env bash
# The manual page is complete: man.sh [SPBENCH]. The page names every command, every option of every
# command's help, every column, every exit status and every environment variable.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
binary=$(realpath "${1:-$root/spbench}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/lib/checks.sh
. "$root/tests/lib/checks.sh"
output=$work/out

"$binary" man >"$work/page.1"
# part SECTION [SUBSECTION]: the lines below the headings.
part() {
    sed -n "/^\.SH $1\$/,/^\.SH /p" "$work/page.1" |
        if [ $# -gt 1 ]; then sed -n "/^\.SS $2\$/,/^\.S[HS] /p"; else cat; fi
}
# bold TEXT: TEXT as roff in bold. names NAME LINES: one of the lines has NAME in bold.
bold() {
    local text=${1//-/\\-}
    printf '\\fB%s\\fR' "${text//\~/\\(ti}"
}
names() { grep -qF -- "$(bold "$1")" <<<"$2"; }

mapfile -t sections < <(sed -n 's/^\.SH //p' "$work/page.1")
check 'the sections are in the usual order' [ "${sections[*]}" = \
    'NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS COLUMNS EXIT STATUS ENVIRONMENT FILES EXAMPLES' ]

mapfile -t commands < <("$binary" help | sed -n 's/^  spbench \([a-z]\{1,\}\) .*/\1/p')
check 'the help names commands' [ "${#commands[@]}" -gt 9 ]
options=$(part OPTIONS)
for command in "${commands[@]}"; do
    check "the synopsis has $command" names "$command" "$(part SYNOPSIS)"
    check "the commands have $command" names "$command" "$(part COMMANDS)"
    # Each option stands at its command: described, or named as described above.
    own=$(part OPTIONS "$command" && part OPTIONS 'All commands')
    while read -r option; do
        check "$option is described" names "$option" "$options"
        check "$command has $option" grep -qE -- "(^| |B)${option//-/\\\\-}([,.]|.fR)" <<<"$own"
    done < <("$binary" help "$command" | sed -n 's/^  \(-[a-z-]*\) .*/\1/p')
    # Each exit status stands at its command, too.
    exits=$(sed -n "/^\.SS .*\<$command\>/,/^\.S[HS] /p" <<<"$(part 'EXIT STATUS')")
    for status in 0 1 2 130; do
        check "$command: exit status $status" names "$status" "$exits"
    done
    for status in $("$binary" help "$command" | sed -n '/^Exit status/,$p' | grep -oE '(status:|,) [0-9]+ ' | grep -oE '[0-9]+'); do
        check "$command: exit status $status of its help" names "$status" "$exits"
    done
done
for command in run info compare sweep; do
    check "$command: exit status 3" grep -qF "$(bold 3)" \
        <<<"$(sed -n "/^\.SS $command\$/,/^\.S[HS] /p" <<<"$(part 'EXIT STATUS')")"
done

mapfile -t heads < <("$binary" help columns | sed -n 's/^  \([^ ].*\)/\1/p' | sed 's/  .*//')
check 'the help has columns' [ "${#heads[@]}" -gt 20 ]
for head in "${heads[@]}"; do check "column $head" names "$head" "$(part COLUMNS)"; done

# Environment variables that the source reads.
mapfile -t asked < <(grep -ohE 'getenv\("[A-Z_]+"\)' "$root"/src/*/*.c "$root"/src/*/*.cu "$root"/kernels/*/*.c | sort -u | cut -d'"' -f2)
check 'the source asks for variables' [ "${#asked[@]}" -gt 2 ]
for name in "${asked[@]}"; do check "variable $name" names "$name" "$(part ENVIRONMENT)"; done

quiet() { # COMMAND...: the command succeeds and prints nothing
    "$@" >"$work/said" 2>&1
    local status=$?
    cat "$work/said"
    [ "$status" -eq 0 ] && [ ! -s "$work/said" ]
}
if command -v groff >/dev/null; then
    check 'groff finds nothing wrong' quiet groff -man -ww -z -Tutf8 "$work/page.1"
    groff -man -Tascii -P-cbou "$work/page.1" >"$work/page"
    check 'what is special to roff is shown as it is' grep -qF "'cusparse*'" "$work/page"
    check 'powers are shown as they are' grep -qF 'A * A^T' "$work/page"
else
    skipped=1
    echo 'skipped: no groff for the manual page'
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
