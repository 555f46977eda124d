# What is there, what is missing, how many bytes that is, how long it takes, whether there is room.
# Part of fetch_suitesparse.sh, whose variables it uses.
# shellcheck shell=bash disable=SC2154,SC2034

assumed_rate=10000000 # bytes a second, as long as nothing is measured
unpacked_times=4      # so much more is the text of a matrix than its archive, roughly

human() { # 1234567 -> 1.2 MB
    awk -v n="$1" 'BEGIN {
        split("bytes kB MB GB TB", unit, " ")
        for (u = 1; n >= 999.5 && u < 5; u++) n /= 1000
        printf(u > 1 && n < 9.95 ? "%.1f %s" : "%.0f %s", n, unit[u])
    }'
}
span() { # seconds -> 3 min
    awk -v s="$1" 'BEGIN {
        if (s < 90) printf("%.0f s", s < 1 ? 1 : s)
        else if (s < 5400) printf("%.0f min", s / 60)
        else printf("%.1f h", s / 3600)
    }'
}

# One process asks for the sizes of many archives, over few connections: STATUS BYTES a line, in the
# order of the addresses. A server that cannot be reached ends it.
sizes_head() {
    awk 'BEGIN { print "write-out = \"=%{http_code}\\n\"" }
        { print "url = \"" $0 "\"" }' |
        curl --head --location --max-redirs 10 --silent --globoff --fail-early --connect-timeout 10 \
            --speed-limit 1 --speed-time "$patience" --config - 2>/dev/null | tr -d '\r' | awk '
            tolower($1) == "content-length:" { bytes = $2 }
            /^HTTP\// { bytes = "" }
            sub(/^=/, "") { print $0, bytes; bytes = "" }'
}

# The sizes of the missing archives, as far as a server tells them: archive_bytes[Group/Name]. A
# server that tells none goes behind the others: each download would wait for it.
declare -A archive_bytes=()
sizes_ask() {
    local address i group groups=8 asked=("${missing[@]}") unknown status bytes good=() silent=()
    for address in "${bases[@]}"; do
        if [ "${#asked[@]}" = 0 ]; then
            good+=("$address")
            continue
        fi
        [ "$groups" -le "${#asked[@]}" ] || groups=${#asked[@]}
        for ((group = 0; group < groups; group++)); do
            for ((i = group; i < ${#asked[@]}; i += groups)); do
                printf '%s/%s.tar.gz\n' "$address" "${asked[i]}"
            done | sizes_head >"$scratch/sizes.$group" &
        done
        wait
        unknown=()
        for ((group = 0; group < groups; group++)); do
            exec 3<"$scratch/sizes.$group"
            for ((i = group; i < ${#asked[@]}; i += groups)); do
                read -r status bytes <&3 || status='' bytes=''
                # 000 is that of file://
                if [[ $status =~ ^(200|000)$ && $bytes =~ ^[0-9]+$ ]]; then
                    archive_bytes[${asked[i]}]=$bytes
                else
                    unknown+=("${asked[i]}")
                fi
            done
            exec 3<&-
        done
        if [ "${#unknown[@]}" -lt "${#asked[@]}" ]; then good+=("$address"); else silent+=("$address"); fi
        asked=("${unknown[@]}")
    done
    bases=("${good[@]}" "${silent[@]}")
}

# $free: bytes free where FOLDER is or will be.
free_ask() {
    local place=$folder
    while [ ! -e "$place" ]; do
        case $place in
        */*) place=${place%/*} ;;
        *) place=. ;;
        esac
        place=${place:-/}
    done
    free=$(df -Pk "$place" 2>/dev/null | awk 'NR == 2 { printf "%.0f", $4 * 1024 }')
}

# Sets $missing, $have, $failed, and the totals: $to_get (bytes to download), $unknown_count, $free,
# $short (why there is no room).
declare -A state=() # have, different or missing, by Group/Name
plan() {
    local matrix path
    missing=() have=0 failed=0 fetched=0 to_get=0 unknown_count=0 short=''
    for matrix in "${matrices[@]}"; do
        path=$folder/${lock_file[$matrix]}
        if [ -s "$path" ]; then
            if have_check "$matrix"; then
                have=$((have + 1))
                state[$matrix]=have
                continue
            fi
        elif [ -e "$path.changed" ]; then
            why="$path.changed came before and is not what fetch.lock knows; rename it and remove the line"
            why="$why in $lock to accept it, or remove it to try again"
        else
            missing+=("$matrix")
            state[$matrix]=missing
            continue
        fi
        say "FAILED $matrix: $why"
        failed=$((failed + 1))
        state[$matrix]=different
    done
    [ "${#missing[@]}" -gt 0 ] || return
    sizes_ask
    plan_add_up
    plan_say
}

declare -A part_bytes=() # what is there of an archive from before
plan_add_up() {
    local matrix part bytes whole=0
    for matrix in "${missing[@]}"; do
        part=$folder/.part/$matrix.tar.gz
        part_bytes[$matrix]=0
        [ -e "$part" ] && part_bytes[$matrix]=$(bytes_of "$part")
        bytes=${archive_bytes[$matrix]:-}
        if [ -z "$bytes" ]; then
            unknown_count=$((unknown_count + 1))
            continue
        fi
        whole=$((whole + bytes))
        [ "$bytes" -lt "${part_bytes[$matrix]}" ] || to_get=$((to_get + bytes - part_bytes[$matrix]))
    done
    unpacked=$((whole * unpacked_times))
    free_ask
    # A text is never smaller than its archive.
    if [ "$free" ] && [ "$whole" -gt "$free" ]; then
        short="no room in $folder: $(human "$free") are free, the archives alone are $(human "$whole")"
    fi
}

plan_say() {
    local text="${#missing[@]} to fetch"
    if [ "$unknown_count" = "${#missing[@]}" ]; then
        say "$text; no server says how large they are"
        return
    fi
    text="$text, $(human "$to_get")"
    [ "$unknown_count" = 0 ] || text="$text and $unknown_count of unknown size"
    text="$text; about $(span "$((to_get / assumed_rate))") at $(human "$assumed_rate")/s (assumed)"
    say "$text; unpacked about $(human "$unpacked")${free:+, $(human "$free") are free}"
    if [ -z "$short" ] && [ "$free" ] && [ "$unpacked" -gt "$free" ]; then
        say "warning: there may be no room for all of them"
    fi
}

# For -n: a line for each matrix on stdout.
plan_print() {
    local matrix there
    for matrix in "${matrices[@]}"; do
        if [ "${state[$matrix]}" != missing ]; then
            printf '%s %s\n' "${state[$matrix]}" "$matrix"
            continue
        fi
        there=''
        [ "${part_bytes[$matrix]}" = 0 ] || there=" (${part_bytes[$matrix]} there)"
        printf 'would fetch %s/%s.tar.gz %s%s\n' "${bases[0]}" "$matrix" "${archive_bytes[$matrix]:-?}" "$there"
    done
    [ -z "$short" ] || say "$short"
}
