# FOLDER/fetch.lock: which matrix lies where, its size and its SHA-256, from when it first came. Part
# of fetch_suitesparse.sh, whose variables it uses. A line: SHA256 BYTES Group/Name FILE, where FILE
# is Name.mtx or Group-Name.mtx.
# shellcheck shell=bash disable=SC2154

bytes_of() { wc -c <"$1" | tr -d ' '; }
sum_of() { sha256sum <"$1" | cut -d ' ' -f 1; }

declare -A lock_sum=() lock_bytes=() lock_file=() # by Group/Name
declare -A lock_owner=()                          # Group/Name by file
lock_read() {
    local sum bytes matrix file rest line=0
    lock=$folder/fetch.lock
    [ -e "$lock" ] || return 0
    while read -r sum bytes matrix file rest || [ "$sum" ]; do
        line=$((line + 1))
        [[ -z $sum || $sum == '#'* ]] && continue
        if ! [[ $sum =~ ^[0-9a-f]{64}$ && $bytes =~ ^[0-9]+$ && $matrix == ?*/?* && -z $rest ]] ||
            [[ $file != "${matrix#*/}.mtx" && $file != "${matrix/\//-}.mtx" ]] ||
            [[ $matrix == .* || $matrix == */*/* || $matrix == */.* ]]; then
            give_up "$lock:$line: 'SHA256 BYTES Group/Name FILE' is wanted"
        fi
        lock_sum[$matrix]=$sum
        lock_bytes[$matrix]=$bytes
        lock_file[$matrix]=$file
        lock_owner[$file]=$matrix
    done <"$lock" || give_up "$lock cannot be read"
}

# Where it lies or will lie: the first of a name has it, those of other groups one with their group.
# (No folder of its own: records know a matrix by the name of its file.)
file_assign() {
    local matrix=$1 file=${1#*/}.mtx
    [ "${lock_owner[$file]:-$matrix}" = "$matrix" ] || file=${matrix/\//-}.mtx
    lock_file[$matrix]=${lock_file[$matrix]:-$file}
    lock_owner[${lock_file[$matrix]}]=$matrix
}

# lock_add MATRIX SUM BYTES: the file is written anew and renamed, so that it is whole at any time.
lock_add() {
    local part=$folder/.part/lock
    if ! {
        if [ -e "$lock" ]; then
            cat "$lock"
        else
            printf '# SHA-256, bytes, matrix, file: fetch_suitesparse.sh compares what comes later.\n'
        fi && printf '%s %s %s %s\n' "$2" "$3" "$1" "${lock_file[$1]}"
    } >"$part" || ! mv "$part" "$lock"; then
        give_up "$lock cannot be written"
    fi
    lock_sum[$1]=$2
    lock_bytes[$1]=$3
}

# Is the file of a matrix the known one? Takes one that came by other ways as it is. Sets $why.
have_check() {
    local matrix=$1 path=$folder/${lock_file[$1]} bytes sum
    bytes=$(bytes_of "$path")
    if [ -z "${lock_sum[$matrix]:-}" ]; then
        [ "$dry_run" ] || lock_add "$matrix" "$(sum_of "$path")" "$bytes"
        return 0
    fi
    why="remove it to fetch it again, or its line in $lock to keep it"
    if [ "$bytes" != "${lock_bytes[$matrix]}" ]; then
        why="$path has $bytes bytes, not ${lock_bytes[$matrix]} as in fetch.lock; $why"
        return 1
    fi
    [ "$check_sums" ] || return 0
    sum=$(sum_of "$path")
    [ "$sum" = "${lock_sum[$matrix]}" ] && return 0
    why="$path has SHA-256 $sum, not ${lock_sum[$matrix]} as in fetch.lock; $why"
    return 1
}

# settle MATRIX SUM BYTES: what came gets its name, if it is what came the first time. Sets $why.
settle() {
    local matrix=$1 path=$folder/${lock_file[$1]} new=$folder/.part/$1.mtx
    if [ -z "${lock_sum[$matrix]:-}" ]; then
        lock_add "$matrix" "$2" "$3"
    elif [ "${lock_sum[$matrix]}" != "$2" ]; then
        why="it is not what came first: SHA-256 $2, $3 bytes, not ${lock_sum[$matrix]}, ${lock_bytes[$matrix]} bytes"
        if mv "$new" "$path.changed"; then
            rm -f "$folder/.part/$matrix".*
            why="$why; it is $path.changed"
        fi
        return 1
    fi
    mv "$new" "$path" || give_up "$path cannot be written"
    rm -f "$folder/.part/$matrix".*
}
