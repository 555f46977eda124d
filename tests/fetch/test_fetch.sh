#!/usr/bin/env bash
# fetch_suitesparse.sh: what needs no server (fetch_basics.sh), rules and the index (fetch_rules.sh),
# and what goes wrong on the way, with a web server on this machine (fetch_web.sh).
#
# shellcheck disable=SC2154 # its parts share their variables
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for part in helpers basics rules web; do
    # shellcheck source=/dev/null
    . "$root/tests/fetch/fetch_$part.sh"
    echo "$part: ${SECONDS} s so far"
done

if command -v shellcheck >/dev/null; then
    check 'shellcheck' shellcheck "$root"/fetch_suitesparse.sh "$root"/fetch/*.sh "$root"/tests/fetch/*.sh
else
    skip 'shellcheck is not installed'
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
