# What the tests of fetch_suitesparse.sh share: test_fetch.sh reads this, then each of them.
# shellcheck shell=bash disable=SC2154,SC2034

# shellcheck source=/dev/null
. "$root/tests/lib/checks.sh"
shown=$work/err

# Runs the script; leaves its status in $status, its output in $work/out and $work/err.
base=file://$work/mirror
fetch() {
    BASE=$base INDEX=${index_address:-file://$work/ssstats.csv} "$root/fetch_suitesparse.sh" -l "$work/list" "$@" \
        >"$work/out" 2>"$work/err"
    status=$?
}
status_is() { [ "$status" = "$1" ]; }
says() { grep -qF -- "$1" "$work/err"; }
says_not() { ! says "$@"; }
prints() { [ "$(cat "$work/out")" = "$1" ]; }
# What is in the folder, hidden files too; not the lock, which every folder has.
holds() { [ "$(cd "$1" && find . -type f ! -name fetch.lock | sort | tr '\n' ' ')" = "$2" ]; }
same() { cmp -s "$1" "$2"; }

# wrong WHAT MESSAGE ARGUMENTS...
wrong() {
    local what=$1 message=$2
    shift 2
    fetch "$@"
    check "$what: status" status_is 2
    check "$what: message" [ "$(cat "$work/err")" = "fetch_suitesparse.sh: $message" ]
}

banner='%%MatrixMarket matrix coordinate real general'
# add GROUP NAME FILE TEXT: an archive that holds NAME/FILE
add() {
    mkdir -p "$work/mirror/$1" "$work/tree/$2"
    printf '%s\n' "$4" >"$work/tree/$2/$3"
    tar -C "$work/tree" -czf "$work/mirror/$1/$2.tar.gz" "$2"
    rm -r "$work/tree"
}
# big GROUP NAME: one of some 200 kB; its text stays in $work/texts/NAME.mtx
big() {
    mkdir -p "$work/texts"
    { echo "$banner" && head -c 150000 /dev/urandom | base64; } >"$work/texts/$2.mtx"
    add "$1" "$2" "$2.mtx" "$(cat "$work/texts/$2.mtx")"
}
# until_true COMMAND...: waits for it, a minute at most
until_true() {
    local end=$((SECONDS + 60))
    while ! "$@"; do
        [ "$SECONDS" -lt "$end" ] || return
        sleep 0.05
    done
}
