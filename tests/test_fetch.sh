#!/usr/bin/env bash
# fetch_suitesparse.sh against a mirror in a temporary folder, by file:// addresses.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

check() { # check WHAT COMMAND...
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'test_fetch.sh: FAILED: %s\n' "$what"
        sed 's/^/    /' "$work/err"
    fi
}

# Runs the script; leaves its status in $status, its output in $work/out and $work/err.
fetch() {
    BASE="file://$work/mirror" "$root/fetch_suitesparse.sh" -l "$work/list" "$@" \
        >"$work/out" 2>"$work/err"
    status=$?
}
status_is() { [ "$status" = "$1" ]; }
says() { grep -qF -- "$1" "$work/err"; }
# What is in the folder, hidden files too.
holds() { [ "$(cd "$1" && find . -type f | sort | tr '\n' ' ')" = "$2" ]; }

# add GROUP NAME FILE TEXT: an archive that holds NAME/FILE
add() {
    mkdir -p "$work/mirror/$1" "$work/tree/$2"
    printf '%s\n' "$4" >"$work/tree/$2/$3"
    tar -C "$work/tree" -czf "$work/mirror/$1/$2.tar.gz" "$2"
    rm -r "$work/tree"
}
banner='%%MatrixMarket matrix coordinate real general'
add G one one.mtx "$banner"
add G two two.mtx "$banner"
add H three three.mtx "$banner"
add G empty README 'nothing else'
add G html html.mtx '<html>'
head -c 5000 /dev/urandom >"$work/noise"
add G torn torn.mtx "$banner $(base64 "$work/noise")"
head -c 3000 "$work/mirror/G/torn.tar.gz" >"$work/torn"
mv "$work/torn" "$work/mirror/G/torn.tar.gz"
echo 'no archive at all' >"$work/mirror/G/text.tar.gz"
cat >"$work/list" <<END
# a comment
G/one      good both
G/two      good   # another
H/three    both
gen:fem:3  good made
G/missing  bad
G/empty    odd
G/html     odd2
G/torn     torn
G/text     torn
END

fetch -n -s good "$work/a"
check 'dry run: status' status_is 0
check 'dry run: lists two' [ "$(grep -c "^would fetch file://$work/mirror/G/" "$work/out")" = 2 ]
check 'dry run: makes nothing' [ ! -e "$work/a" ]

fetch -s good "$work/a"
check 'fetch: status' status_is 0
check 'fetch: files' holds "$work/a" './one.mtx ./two.mtx '
check 'fetch: content' [ "$(cat "$work/a/one.mtx")" = "$banner" ]
check 'fetch: closing line' says '2 fetched, 0 there already, 0 failed'

echo mine >"$work/a/one.mtx"
fetch -s good,both -j 3 "$work/a"
check 'again: status' status_is 0
check 'again: only the new one' says '1 fetched, 2 there already, 0 failed'
check 'again: left alone' [ "$(cat "$work/a/one.mtx")" = mine ]
check 'again: files' holds "$work/a" './one.mtx ./three.mtx ./two.mtx '
fetch -n -s good "$work/a"
check 'again: dry run' [ "$(cat "$work/out")" = 'have G/one
have G/two' ]

fetch -s made "$work/b"
check 'only generated ones: status' status_is 0
check 'only generated ones: nothing' holds "$work/b" ''

fetch -s bad,good "$work/c"
check 'missing: status' status_is 1
check 'missing: named' says 'FAILED G/missing: curl: (37)'
check 'missing: the others are there' holds "$work/c" './one.mtx ./two.mtx '
check 'missing: closing line' says '2 fetched, 0 there already, 1 failed'

fetch -s odd "$work/d"
check 'other content: status' status_is 1
check 'other content: said' says 'FAILED G/empty: the archive holds no empty/empty.mtx'
fetch -s odd2 "$work/d"
check 'no Matrix Market: said' says 'FAILED G/html: html.mtx in the archive is no Matrix Market file'
fetch -s torn -r 1 -j 2 "$work/d"
check 'damaged: status' status_is 1
check 'damaged: torn' says 'FAILED G/torn: the archive is damaged'
check 'damaged: text' says 'FAILED G/text: the archive is damaged'
check 'failures leave nothing' holds "$work/d" ''

fetch "$work/e" H/three H/three
check 'by name: status' status_is 0
check 'by name: files' holds "$work/e" './three.mtx '

(cd "$work" && BASE="file://$work/nowhere file://$work/mirror" \
    "$root/fetch_suitesparse.sh" -l list -s good 2>"$work/err")
check 'second address, default folder' holds "$work/matrices" './one.mtx ./two.mtx '

# A retry after a failure that may pass: this curl fails the first time.
mkdir -p "$work/bin"
cat >"$work/bin/curl" <<END
#!/bin/sh
echo try >>'$work/tries'
[ "\$(wc -l <'$work/tries')" -gt 1 ] || { echo 'curl: (28) timed out' >&2; exit 28; }
exec $(command -v curl) "\$@"
END
chmod +x "$work/bin/curl"
PATH="$work/bin:$PATH" fetch "$work/f" G/one
check 'retry: status' status_is 0
check 'retry: two tries' [ "$(wc -l <"$work/tries")" = 2 ]

# Ended in the middle of a download: this curl never finishes.
cat >"$work/bin/curl" <<'END'
#!/bin/sh
while [ "$1" != --output ]; do shift; done
echo half >"$2"
echo $$ >"$0.pid"
exec sleep 60
END
PATH="$work/bin:$PATH" BASE="file://$work/mirror" "$root/fetch_suitesparse.sh" "$work/g" G/one \
    2>"$work/err" &
script=$!
for _ in $(seq 100); do [ -s "$work/bin/curl.pid" ] && break; sleep 0.05; done
check 'interrupt: a half file while it runs' [ -n "$(find "$work/g" -name '.*.part.tar')" ]
kill -TERM "$script"
wait "$script"
status=$?
check 'interrupt: status' status_is 130
check 'interrupt: nothing left' holds "$work/g" ''
running() { kill -0 "$(cat "$work/bin/curl.pid")" 2>/dev/null; }
for _ in $(seq 40); do running || break; sleep 0.05; done
check 'interrupt: curl ended too' [ "$(running && echo yes)" = '' ]

# wrong WHAT MESSAGE ARGUMENTS...
wrong() {
    local what=$1 message=$2
    shift 2
    fetch "$@"
    check "$what: status" status_is 2
    check "$what: message" [ "$(cat "$work/err")" = "fetch_suitesparse.sh: $message" ]
}
wrong 'bad set' '-s nine: no such set in list; there are all good both made bad odd odd2 torn' -s nine
wrong 'bad option' 'no option -q; -h shows all' -q
wrong 'no value' '-s wants a value; -h shows how' -s
wrong 'bad jobs' '-j 0: a number from 1 to 99 is wanted' -j 0
wrong 'bad name' '../x: Group/Name is wanted' "$work/h" ../x
wrong 'two of a name' 'H/one and G/one would both be one.mtx; use two folders' "$work/h" G/one H/one
check 'wrong usage makes nothing' [ ! -e "$work/h" ]
BASE="file://$work/mirror" "$root/fetch_suitesparse.sh" -l "$work/none" -s good 2>"$work/err"
status=$?
check 'no list: status' status_is 2
check 'no list: said' says "-l $work/none: cannot be read"
fetch -h
check 'help: status' status_is 0
check 'help: sets' grep -qx 'The sets of LIST: good both made bad odd odd2 torn' "$work/out"

# The list of the project itself: every line has a name and sets, and no name comes twice.
bad_lines() {
    sed 's/#.*//' "$root/matrices.txt" |
        awk 'NF && (NF < 2 || $1 !~ /^(gen:|[^\/]+\/[^\/]+$)/ || seen[$1]++)'
}
check 'matrices.txt' [ "$(bad_lines)" = '' ]
if command -v shellcheck >/dev/null; then
    check 'shellcheck' shellcheck "$root/fetch_suitesparse.sh" "${BASH_SOURCE[0]}"
    skipped=0
else
    echo 'skipped: shellcheck is not installed'
    skipped=1
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
