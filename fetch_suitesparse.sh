#!/usr/bin/env bash
# Downloads the SuiteSparse matrices of matrices.txt; usage() says how.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
list=$here/matrices.txt
folder=matrices
sets=
jobs=1
tries=3
dry_run=
base=${BASE:-https://suitesparse-collection-website.herokuapp.com/MM https://sparse.tamu.edu/MM}

usage() {
    cat <<END
usage: fetch_suitesparse.sh [-n] [-s SET[,SET]] [-j N] [-r N] [-l LIST] [FOLDER [Group/Name]...]

Downloads matrices of the SuiteSparse Matrix Collection into FOLDER (default: matrices), one
NAME.mtx each. What is there already is skipped, so run it again to go on after a break.

  -s SET    the sets to fetch, of LIST; 'all' for every one (default: smoke, or none if matrices
            are named)
  -n        only say what would be done
  -j N      downloads at a time (default: $jobs)
  -r N      tries for each matrix (default: $tries)
  -l LIST   the list of matrices (default: matrices.txt beside this script)
  -h        this text

Matrices can be named after FOLDER as well. BASE in the environment is the address (or several,
tried in turn) that GROUP/NAME.tar.gz is appended to; now:
  ${base// /$'\n'  }
The sets of LIST: $(sets_known)

Exit status: 0 everything is there, 1 something could not be fetched, 2 wrong usage,
130 interrupted.
END
}

say() { printf '%s\n' "$*" >&2; }
wrong() {
    say "fetch_suitesparse.sh: $*"
    exit 2
}

# The lines of the list without comments.
list_lines() { sed 's/#.*//' "$list"; }

sets_known() {
    list_lines 2>/dev/null | awk '
        { for (f = 2; f <= NF; f++) if (!seen[$f]++) text = text " " $f }
        END { print substr(text, 2) }'
}

# Group/Name of every matrix in the given sets (separated by commas).
set_members() {
    list_lines | awk -v sets="$1" '
        BEGIN { count = split(sets, wanted, ",") }
        $1 ~ /^gen:/ { next }
        {
            for (f = 2; f <= NF; f++)
                for (s = 1; s <= count; s++)
                    if (wanted[s] == "all" || wanted[s] == $f) hit[$1] = 1
            if (hit[$1] && !done[$1]++) print $1
        }'
}

# Half-made files are hidden and carry this script's process id.
part_of() { printf '%s/.%s.%s.part' "$folder" "$1" "$$"; }
parts_remove() { rm -f "$folder"/.*."$$".part.tar "$folder"/.*."$$".part.mtx; }

# One try: archive -> NAME.mtx. Prints why it failed; returns 2 where a retry would not help.
fetch_try() {
    local url=$1 name=$2 part text
    part=$(part_of "$name")
    text=$(curl --fail --location --silent --show-error --connect-timeout 30 --speed-limit 1000 \
        --speed-time 60 --output "$part.tar" "$url" 2>&1)
    case $? in
    0) ;;
    22 | 37) # the server says no, or there is no such file
        case $text in
        *' 408'* | *' 429'* | *' 5'[0-9][0-9]*) printf '%s' "$text" && return 1 ;;
        esac
        printf '%s' "$text"
        return 2
        ;;
    *)
        printf '%s' "$text"
        return 1
        ;;
    esac
    if ! tar -xzOf "$part.tar" "$name/$name.mtx" >"$part.mtx" 2>/dev/null; then
        local held
        if ! held=$(tar -tzf "$part.tar" 2>/dev/null); then
            printf 'the archive is damaged'
            return 1
        fi
        case $'\n'$held$'\n' in
        *$'\n'"$name/$name.mtx"$'\n'*) printf 'cannot write into %s' "$folder" ;;
        *) printf 'the archive holds no %s/%s.mtx' "$name" "$name" ;;
        esac
        return 2
    fi
    if [ "$(head -c 14 "$part.mtx")" != '%%MatrixMarket' ]; then
        printf '%s.mtx in the archive is no Matrix Market file' "$name"
        return 2
    fi
    mv "$part.mtx" "$folder/$name.mtx" 2>&1 || return 2
}

# All tries for Group/Name, over all addresses.
fetch_matrix() {
    local matrix=$1 name=${1#*/} try address why='' status bases
    read -ra bases <<<"$base"
    for ((try = 1; try <= tries; try++)); do
        local again=
        for address in "${bases[@]}"; do
            why=$(fetch_try "$address/$matrix.tar.gz" "$name")
            status=$?
            rm -f "$(part_of "$name").tar" "$(part_of "$name").mtx"
            if [ "$status" = 0 ]; then
                say "fetched $matrix ($(du -h "$folder/$name.mtx" | cut -f1))"
                return 0
            fi
            [ "$status" = 1 ] && again=1
        done
        [ "$again" ] || break
        [ "$try" -lt "$tries" ] && sleep "$try"
    done
    say "FAILED $matrix: ${why##*$'\n'}"
    return 1
}

while getopts ':ns:j:r:l:h' option; do
    case $option in
    n) dry_run=1 ;;
    s) sets=$OPTARG ;;
    j) jobs=$OPTARG ;;
    r) tries=$OPTARG ;;
    l) list=$OPTARG ;;
    h) usage && exit 0 ;;
    :) wrong "-$OPTARG wants a value; -h shows how" ;;
    *) wrong "no option -$OPTARG; -h shows all" ;;
    esac
done
shift $((OPTIND - 1))
[[ $jobs =~ ^[1-9][0-9]?$ ]] || wrong "-j $jobs: a number from 1 to 99 is wanted"
[[ $tries =~ ^[1-9][0-9]?$ ]] || wrong "-r $tries: a number from 1 to 99 is wanted"
if [ $# -gt 0 ]; then
    folder=${1%/}
    [ "$folder" ] || folder=/
    shift
fi
[ $# -gt 0 ] || sets=${sets:-smoke}

matrices=()
if [ "$sets" ]; then
    [ -r "$list" ] || wrong "-l $list: cannot be read"
    known=" all $(sets_known)"
    IFS=, read -ra wanted <<<"$sets"
    for s in "${wanted[@]}"; do
        case "$known " in
        *" $s "*) ;;
        *) wrong "-s $s: no such set in ${list##*/}; there are$known" ;;
        esac
    done
    mapfile -t matrices < <(set_members "$sets")
fi
declare -A group_of
for matrix in "$@"; do
    [[ $matrix =~ ^[A-Za-z0-9_+-][A-Za-z0-9_.+-]*/[A-Za-z0-9_+-][A-Za-z0-9_.+-]*$ ]] ||
        wrong "$matrix: Group/Name is wanted"
done
# Each once, and no two that would be the same file.
for matrix in "${matrices[@]}" "$@"; do
    name=${matrix#*/}
    [ "${group_of[$name]=$matrix}" = "$matrix" ] ||
        wrong "$matrix and ${group_of[$name]} would both be $name.mtx; use two folders"
done
mapfile -t matrices < <(printf '%s\n' "${matrices[@]}" "$@" | awk 'NF && !seen[$0]++')
for tool in curl tar gzip; do
    command -v "$tool" >/dev/null || wrong "$tool is needed and not installed"
done

if [ "$dry_run" ]; then
    for matrix in "${matrices[@]}"; do
        if [ -s "$folder/${matrix#*/}.mtx" ]; then
            printf 'have %s\n' "$matrix"
        else
            printf 'would fetch %s/%s.tar.gz\n' "${base%% *}" "$matrix"
        fi
    done
    exit 0
fi

mkdir -p "$folder" || exit 1
running=()
# Each download is a process group of its own (set -m), so that curl ends with it.
stop() {
    trap '' INT TERM
    for pid in "${running[@]}"; do kill -- "-$pid" 2>/dev/null; done
    wait
    say 'interrupted; run it again to go on'
    exit 130
}
trap stop INT TERM
trap parts_remove EXIT
set -m

have=0 fetched=0 failed=0
# Waits until fewer than $1 downloads run, and counts the finished ones.
reap() {
    while [ "${#running[@]}" -ge "$1" ] && [ "${#running[@]}" -gt 0 ]; do
        local left=() pid
        for pid in "${running[@]}"; do
            if kill -0 "$pid" 2>/dev/null; then
                left+=("$pid")
            elif wait "$pid"; then
                fetched=$((fetched + 1))
            else
                failed=$((failed + 1))
            fi
        done
        [ "${#left[@]}" -lt "${#running[@]}" ] || sleep 0.05
        running=("${left[@]}")
    done
}

for matrix in "${matrices[@]}"; do
    if [ -s "$folder/${matrix#*/}.mtx" ]; then
        have=$((have + 1))
        continue
    fi
    reap "$jobs"
    fetch_matrix "$matrix" </dev/null &
    running+=("$!")
done
reap 1
say "$fetched fetched, $have there already, $failed failed"
[ "$failed" = 0 ]
