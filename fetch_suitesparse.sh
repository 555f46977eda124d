#!/usr/bin/env bash
# Downloads matrices of the SuiteSparse Matrix Collection; usage() says how.
#
# The way of a matrix: chosen by its name, a set or a rule (fetch/choose.sh, fetch/rules.awk) -> looked
# for in FOLDER, asked for its size (fetch/plan.sh) -> FOLDER/.part/Group/Name.tar.gz, which grows by
# what is missing, and unpacked beside it (fetch/download.sh) -> compared with FOLDER/fetch.lock
# (fetch/lock.sh) -> FOLDER/Name.mtx. Nothing has its name there before it is whole and known; what
# comes from the network is compared and unpacked, never run.
#
# shellcheck disable=SC2034,SC2154 # its parts share their variables
((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)) || { echo 'fetch_suitesparse.sh: bash 4.4 is needed' >&2 && exit 1; }
set -uo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
list=$here/matrices.txt
folder=matrices
sets='' rules=() jobs=1 tries=5 patience=60 dry_run='' refresh='' check_sums=''
read -ra bases <<<"${BASE:-https://suitesparse-collection-website.herokuapp.com/MM https://sparse.tamu.edu/MM}"
read -ra index_bases <<<"${INDEX:-https://sparse.tamu.edu/files/ssstats.csv}"

for part in choose plan download lock; do
    # shellcheck source=/dev/null
    . "$here/fetch/$part.sh" || exit 1
done

usage() {
    cat <<END
usage: fetch_suitesparse.sh [-n] [-c] [-u] [-s SET[,SET]] [-w RULE] [-j N] [-r N] [-t SECONDS]
                            [-l LIST] [FOLDER [Group/Name]...]

Downloads matrices of the SuiteSparse Matrix Collection into FOLDER (default: matrices), one
Name.mtx each (Group-Name.mtx if there is one of that name of another group). What is there already
is skipped, and a download that was cut off goes on where it stopped: after a break, run it again.

  -s SET    the sets to fetch, of LIST; 'all' is every set that names its matrices (default: smoke,
            or none if matrices are named or there is a rule)
  -w RULE   the matrices of the collection that fulfil a rule (of several -w: any of them)
  -n        only say what would be done, how many bytes that is and how long it takes
  -c        compare the SHA-256 of what is there already, too, not only its size
  -u        download the collection's index anew
  -j N      downloads at a time (default: $jobs)
  -r N      tries for each matrix, with pauses of 1, 2, 4 ... 60 s (default: $tries)
  -t S      a download of less than 1 kB/s for S seconds has failed (default: $patience)
  -l LIST   the list of matrices (default: matrices.txt beside this script)
  -h        this text

A RULE is conditions parted by blanks, all of which hold, and perhaps a choice among the matrices
that fulfil them: 'nnz<1e7 rows>=1e4 kind~graph', 'rows=cols top 20 by nnz', 'random 195 seed 7'.
  condition   FIELD OPERATOR VALUE without blanks: of a number < <= > >= = !=, and VALUE may be a
              field, too; of a text = != ~ !~, big or small letters: ~ holds VALUE, or of 'a|b' one;
              ^ is its begin, $ its end
  fields      group name kind are texts; rows cols nnz; id, the place in the index; real binary nd
              posdef, 0 or 1; psym nsym, symmetry of pattern and values from 0 to 1; flops, which
              A*A^T takes at the least, and A*A if psym=1 (2*nnz*nnz/cols)
  choice      top N by FIELD, the largest, or random N [seed S], the same on every machine
The index (ssstats.csv) is kept in FOLDER. What a rule, or a set that is one, names is written to
FOLDER/SET.list (of -w: where.list), for 'spbench sweep -dir FOLDER FOLDER/SET.list'.

FOLDER/fetch.lock has the SHA-256 and the size of each matrix from when it first came. One that is
different later is an error: what is there stays, what came is Name.mtx.changed beside it. To
accept it, give it its name and remove the line in fetch.lock.

In the environment: BASE is the address (or several, tried in turn) that Group/Name.tar.gz is
appended to, INDEX that of the index; now:
$(printf '  %s\n' "${bases[@]}" "${index_bases[@]}")
The sets of LIST: $(sets_known)

Exit status: 0 everything is there, 1 something could not be fetched or is different, 2 wrong usage,
130 interrupted.
END
}

say() { printf '%s\n' "$*" >&2; }
wrong() {
    say "fetch_suitesparse.sh: $*"
    exit 2
}
give_up() {
    say "fetch_suitesparse.sh: $*"
    exit 1
}

# A folder has one script at work: two would write into the same archives. The file says which, and
# the processes of its downloads.
folder_take() {
    local owner=$folder/.part/owner host process i
    mkdir -p "$folder/.part" || exit 1
    if ! (set -C && echo "$(uname -n) $$" >"$owner") 2>/dev/null; then
        {
            read -r host process && mapfile -t running
        } <"$owner" || give_up "$owner does not say who is at work in $folder; remove it if nobody is"
        if [ "$host" != "$(uname -n)" ] || kill -0 "$process" 2>/dev/null; then
            give_up "process $process on $host is at work in $folder (if not, remove $owner)"
        fi
        # It was killed: its downloads see that soon.
        for process in "${running[@]}"; do
            for ((i = 0; i < 100; i++)); do
                kill -0 "$process" 2>/dev/null || break
                sleep 0.1
            done
            [ "$i" -lt 100 ] || give_up "process $process is still at work in $folder (if not, remove $owner)"
        done
        running=()
        echo "$(uname -n) $$" >"$owner" || exit 1
    fi
    taken=$owner
}

taken='' scratch='' running=() # the last: processes
clean_up() {
    if [ "$scratch" ]; then rm -rf "$scratch"; fi
    if [ "$taken" ]; then
        # What a later run can go on with are archives.
        find "$folder/.part" -depth \( -type f ! -name '*.tar.gz' -o -type d -empty \) -delete
    fi
}

# Downloads end what they have started (while_wanted), and leave what a later run goes on with.
stop() {
    trap '' INT TERM
    say 'interrupted; run it again to go on'
    for process in "${running[@]}"; do
        kill "$process"
        wait "$process"
    done 2>/dev/null
    exit 130
}

while getopts ':ncus:w:j:r:t:l:h' option; do
    case $option in
    n) dry_run=1 ;;
    c) check_sums=1 ;;
    u) refresh=1 ;;
    s)
        [ "$OPTARG" ] || wrong "-s '': names no set, as of a variable that is not set"
        sets=$OPTARG
        ;;
    w) rules+=("$OPTARG") ;;
    j) jobs=$OPTARG ;;
    r) tries=$OPTARG ;;
    t) patience=$OPTARG ;;
    l) list=$OPTARG ;;
    h) usage && exit 0 ;;
    :) wrong "-$OPTARG wants a value; -h shows how" ;;
    *) wrong "no option -$OPTARG; -h shows all" ;;
    esac
done
shift $((OPTIND - 1))
[[ $jobs =~ ^[1-9][0-9]?$ ]] || wrong "-j $jobs: a number from 1 to 99 is wanted"
[[ $tries =~ ^[1-9][0-9]?$ ]] || wrong "-r $tries: a number from 1 to 99 is wanted"
[[ $patience =~ ^[1-9][0-9]{0,3}$ ]] || wrong "-t $patience: a number of seconds from 1 to 9999 is wanted"
if [ $# -gt 0 ]; then
    folder=${1%/}
    [ "$folder" ] || folder=/
    shift
fi
# tar takes a:b for a file on another machine, unless there is a / before it.
[[ $folder == /* ]] || folder=./$folder
[ $# -gt 0 ] || [ "${#rules[@]}" -gt 0 ] || sets=${sets:-smoke}
choice_check "$@"
for tool in curl tar gzip awk sha256sum; do
    command -v "$tool" >/dev/null || give_up "$tool is needed and not installed"
done

trap clean_up EXIT
trap stop INT TERM
scratch=$(mktemp -d) || exit 1
[ "$dry_run" ] || folder_take
lock_read
matrices=()
choose "$@"
plan
if [ "$dry_run" ]; then
    plan_print
    [ "$failed" = 0 ]
    exit
fi
[ "$short" ] && give_up "$short"

for matrix in "${missing[@]}"; do
    reap "$jobs"
    fetch_matrix "$matrix" </dev/null &
    running+=("$!")
    echo "$!" >>"$taken"
    matrix_of[$!]=$matrix
done
reap 1
say "$fetched fetched, $have there already, $failed failed"
[ "$failed" = 0 ]
