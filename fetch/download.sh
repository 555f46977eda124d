# One matrix, from the server to a file that is whole; many at a time. Part of fetch_suitesparse.sh,
# whose variables it uses. What fails sets $why and returns 1 where another try may help, else 2.
# shellcheck shell=bash disable=SC2154,SC2034

# What curl's exit status means.
curl_judge() { # STATUS TEXT
    why=${2##*$'\n'}
    case $1 in
    0) return 0 ;;
    22) # the server says no
        case $2 in
        *' 408'* | *' 425'* | *' 429'* | *' 5'[0-9][0-9]*) return 1 ;;
        esac
        return 2
        ;;
    23 | 153) # cannot write; 153: over the limit of a file's size
        why="$folder cannot be written into; is the disk full?"
        return 2
        ;;
    1 | 3 | 37 | 47 | 60) return 2 ;; # no such protocol, address or file, endless redirects, certificate
    esac
    [ "$why" ] || why="curl ended with status $1"
    return 1
}

# What takes long runs beside its download, which ends it when it is ended, or when the script is
# gone: another run must not meet it.
at_work=''
while_wanted() { # COMMAND...
    local i
    "$@" &
    at_work=$!
    for ((i = 1; ; i++)); do
        kill -0 "$at_work" 2>/dev/null || break
        kill -0 "$$" 2>/dev/null || no_longer_wanted
        sleep "0.0$((i < 9 ? i : 9))"
    done
    wait "$at_work"
}
no_longer_wanted() {
    [ -z "$at_work" ] || kill "$at_work" 2>/dev/null
    exit 1
}

# Gets the rest of ARCHIVE.
download() { # URL ARCHIVE
    local text status again
    for again in 1 2; do
        while_wanted curl --fail --location --max-redirs 10 --silent --show-error --globoff --connect-timeout 30 \
            --speed-limit 1000 --speed-time "$patience" --continue-at - --output "$2" "$1" 2>"$2.said"
        status=$?
        text=$(cat "$2.said")
        rm -f "$2.said"
        case $status:$text in
        22:*' 416'*) return 0 ;; # there is no rest: unpack() sees whether it is whole
        33:* | 36:*) rm -f "$2" ;; # the server cannot go on in the middle: from the start
        *) break ;;
        esac
    done
    curl_judge "$status" "$text"
}

# Prints how often NAME is in a listing of 'tar -tv --numeric-owner', and the bytes of the largest.
# A link is listed as "NAME -> TARGET" or "NAME link to TARGET".
listed() { # NAME
    WANTED=$1 awk '
        {
            name = $0
            sub(/^[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ /, "", name)
            if (name != ENVIRON["WANTED"] && index(name, ENVIRON["WANTED"] " -> ") != 1 &&
                index(name, ENVIRON["WANTED"] " link to ") != 1) next
            count++
            if ($3 + 0 > bytes) bytes = $3 + 0
        }
        END { printf "%d %.0f\n", count, bytes }'
}

# gzip packs at most 1,032 bytes into a byte. A file with holes can be larger, and is refused: reading
# the holes could take hours.
gzip_most=1100

# NAME/NAME.mtx of the archive, and nothing else of it, into OUT.
unpack() { # ARCHIVE NAME OUT
    local count bytes packed
    if [ "$(head -c 2 "$1" | od -An -tx1 | tr -d ' ')" != 1f8b ]; then
        why="what came is no archive; it begins with '$(head -c 40 "$1" | tr -c '[:print:]' ' ')'"
        return 1
    fi
    if ! while_wanted tar -tvzf "$1" --numeric-owner >"$3.names" 2>/dev/null; then
        why='the archive is damaged'
        return 1
    fi
    read -r count bytes < <(listed "$2/$2.mtx" <"$3.names")
    rm -f "$3.names"
    if [ "$count" != 1 ]; then
        why="the archive holds no $2/$2.mtx"
        [ "$count" = 0 ] || why="the archive holds $2/$2.mtx $count times"
        return 2
    fi
    packed=$(bytes_of "$1")
    if ((bytes > gzip_most * packed)); then
        why="$2.mtx has $(human "$bytes") and its archive $(human "$packed"): it is made of holes"
        return 2
    fi
    if ! while_wanted tar -xzOf "$1" "$2/$2.mtx" >"$3" 2>/dev/null; then
        why="$folder cannot be written into; is the disk full?"
        return 2
    fi
    if [ "$(head -c 14 "$3")" != '%%MatrixMarket' ]; then
        why="$2.mtx in the archive is no Matrix Market file"
        return 2
    fi
}

# One try at one address. An archive that is of no use is removed, half of one is kept.
fetch_try() { # ADDRESS MATRIX
    local part=$folder/.part/$2 status
    mkdir -p "${part%/*}"
    if ! [ -s "$part.tar.gz" ] || [ "$(bytes_of "$part.tar.gz")" != "${archive_bytes[$2]:-}" ]; then
        download "$1/$2.tar.gz" "$part.tar.gz" || return
    fi
    unpack "$part.tar.gz" "${2#*/}" "$part.mtx"
    status=$?
    if [ "$status" != 0 ]; then
        rm -f "$part.tar.gz" "$part.mtx"
        return "$status"
    fi
    while_wanted sha256sum "$part.mtx" >"$part.sum" && return
    why="$folder cannot be written into; is the disk full?"
    return 2
}

# All tries for Group/Name, over all addresses. Leaves .part/Group/Name.mtx and .sum.
fetch_matrix() {
    local matrix=$1 try address again why='' pause=1
    trap no_longer_wanted TERM
    rm -f "$folder/.part/$matrix.sum"
    for ((try = 1; try <= tries; try++)); do
        again=
        for address in "${bases[@]}"; do
            fetch_try "$address" "$matrix" && return 0
            [ $? = 2 ] || again=1
        done
        if [ -z "$again" ] || [ "$try" = "$tries" ]; then break; fi
        while_wanted sleep "$pause"
        pause=$((pause < 30 ? 2 * pause : 60))
    done
    say "FAILED $matrix: $why"
    return 1
}

got=0 # bytes downloaded in this run
fetch_settle() { # MATRIX: of a download that ended well
    local matrix=$1 sum bytes why='' elapsed=$SECONDS
    got=$((got + $(bytes_of "$folder/.part/$matrix.tar.gz") - ${part_bytes[$matrix]}))
    bytes=$(bytes_of "$folder/.part/$matrix.mtx")
    # sha256sum puts a backslash first where there is one in the path.
    if read -r sum _ <"$folder/.part/$matrix.sum" && settle "$matrix" "${sum#\\}" "$bytes"; then
        fetched=$((fetched + 1))
        say "fetched $matrix ($(human "$bytes"))$(progress "$elapsed")"
    else
        failed=$((failed + 1))
        say "FAILED $matrix: $why"
    fi
}

# Of many and long downloads: how far, how fast, how long it still takes.
progress() { # SECONDS
    local left=$((to_get - got))
    [ "${#missing[@]}" -gt 1 ] && [ "$1" -ge 5 ] && [ "$got" -gt 0 ] || return 0
    printf '; %s of %s, %s/s' "$fetched" "${#missing[@]}" "$(human $((got / $1)))"
    [ "$left" -le 0 ] || printf ', about %s left' "$(span $((left * $1 / got)))"
}

# Waits until fewer than $1 downloads run, and settles the finished ones.
declare -A matrix_of=() # by process
reap() {
    while [ "${#running[@]}" -ge "$1" ] && [ "${#running[@]}" -gt 0 ]; do
        local left=() pid
        for pid in "${running[@]}"; do
            if kill -0 "$pid" 2>/dev/null; then
                left+=("$pid")
            elif wait "$pid"; then
                fetch_settle "${matrix_of[$pid]}"
            else
                failed=$((failed + 1))
            fi
        done
        [ "${#left[@]}" -lt "${#running[@]}" ] || sleep 0.05
        running=("${left[@]}")
    done
}
