# Which matrices: the list with its sets, the rules, the collection's index. Part of
# fetch_suitesparse.sh, whose variables it uses; the result is $matrices.
# shellcheck shell=bash disable=SC2154

# Prints the lines of the list, without comments and without the byte order mark of some editors. A
# path between quotes, which only a sweep reads, becomes "".
list_lines() { sed -e $'1s/^\xef\xbb\xbf//' -e 's/^[[:blank:]]*"[^"]*"/""/' -e 's/#.*//' "$list"; }

# Its sets: of "A/b SET SET" and "@SET RULE".
sets_known() {
    list_lines 2>/dev/null | awk '
        /^@/ { set[1] = substr($1, 2); count = 1 }
        !/^@/ { for (count = 0; count + 1 < NF; count++) set[count + 1] = $(count + 2) }
        { for (s = 1; s <= count; s++) if (!seen[set[s]]++) text = text " " set[s] }
        END { print substr(text, 2) }'
}

rule_check() { # WHERE-IT-STANDS RULE
    local text
    text=$(RULE=$2 awk -v only=rule -f "$here/fetch/rules.awk" 2>&1) || wrong "$1: $text"
}

# Names become those of files, and parts of commands.
names_check() {
    local matrix
    for matrix in "$@"; do
        [[ $matrix =~ ^[A-Za-z0-9_][A-Za-z0-9_.+-]*/[A-Za-z0-9_][A-Za-z0-9_.+-]*$ ]] ||
            wrong "$matrix: Group/Name is wanted"
    done
}

# Are the options right that say which? Before anything is made or fetched.
choice_check() {
    local known set wanted members rule
    names_check "$@"
    for rule in "${rules[@]}"; do rule_check "-w '$rule'" "$rule"; done
    [ "$sets" ] || return
    [ -r "$list" ] || wrong "-l $list: cannot be read"
    known=" all $(sets_known)"
    IFS=, read -ra wanted <<<"$sets"
    for set in "${wanted[@]}"; do
        case "$known " in
        *" $set "*) ;;
        *) wrong "-s $set: no such set in ${list##*/}; there are$known" ;;
        esac
        rule=$(rule_of_set "$set")
        [ -z "$rule" ] || rule_check "-s $set" "$rule"
        mapfile -t members < <(set_members "$set")
        names_check "${members[@]}"
    done
}

# Group/Name of every matrix in a set that names them.
set_members() {
    list_lines | awk -v set="$1" '
        /^gen:/ || /^@/ || /^"/ { next }
        { for (f = 2; f <= NF; f++) if (set == "all" || set == $f) { print $1; next } }'
}

rule_of_set() {
    list_lines | awk -v name="@$1" '$1 == name { sub(/^[^ \t]+[ \t]*/, ""); print; exit }'
}

index_check() { awk -f "$here/fetch/rules.awk" "$1" 2>&1; }
index_date() { sed -n '2s/\r$//;2p' "$index"; }

# $index: that of the folder, or fetched if it is not there, or -u asks for it.
index_get() {
    local address text=''
    [ "$index" ] && return
    index=$folder/ssstats.csv
    if [ -s "$index" ] && [ ! "$refresh" ]; then
        text=$(index_check "$index") || give_up "$index: $text; -u fetches it anew"
        say "index of $(index_date), fetched $(date -r "$index" +%F)"
        return
    fi
    for address in "${index_bases[@]}"; do
        text=$(curl --fail --location --max-redirs 10 --silent --show-error --globoff --connect-timeout 30 \
            --speed-limit 1000 --speed-time "$patience" --output "$scratch/index" "$address" 2>&1) || continue
        if text=$(index_check "$scratch/index"); then
            index_keep
            return
        fi
        text="$address is not the index: $text"
    done
    [ -s "$index" ] && text="$text; the one of $(index_date) is still there"
    give_up "the index of the collection cannot be fetched: ${text##*$'\n'}"
}

index_keep() {
    if [ "$dry_run" ]; then
        index=$scratch/index
    elif ! { cp "$scratch/index" "$folder/.part/index" && mv "$folder/.part/index" "$index"; }; then
        give_up "$index cannot be written"
    fi
    say "index of $(index_date), fetched now"
}

# rule_matrices WHERE SET RULE: adds what it names to $matrices, and to a list of the set.
declare -A listed=()
rule_matrices() {
    local hits
    index_get
    hits=$(RULE=$3 awk -f "$here/fetch/rules.awk" "$index") || give_up "$1: $index cannot be read"
    if [ -z "$hits" ]; then
        say "$1: no matrix of the index fulfils it"
        return
    fi
    say "$1: $(wc -l <<<"$hits" | tr -d ' ') matrices"
    mapfile -t -O "${#matrices[@]}" matrices <<<"$hits"
    [ "${listed[$2]:-}" ] || printf '# Of the index of %s.\n' "$(index_date)" >"$scratch/$2.list"
    listed[$2]=1
    printf '# %s\n%s\n' "$3" "$hits" >>"$scratch/$2.list"
}

# The lists that rules have made, for spbench: one that has not the file of its name is called as its
# file is.
lists_write() {
    local set line file part=$folder/.part/list
    for set in "${!listed[@]}"; do
        while read -r line; do
            file=${lock_file[$line]:-}
            case $line in
            '#'*) echo "$line" ;;
            */"${file%.mtx}") echo "$line $set" ;;
            *) echo "${file%.mtx} $set # $line" ;;
            esac
        done <"$scratch/$set.list" >"$part" || give_up "$part cannot be written"
        mv "$part" "$folder/$set.list" || give_up "$folder/$set.list cannot be written"
        say "$folder/$set.list names them"
    done
}

# Everything that the options and the arguments name, each once.
choose() {
    local set rule wanted matrix
    index=''
    [ "$refresh" ] && index_get
    IFS=, read -ra wanted <<<"$sets"
    for set in "${wanted[@]}"; do
        rule=$(rule_of_set "$set")
        if [ "$rule" ] && [ -z "${listed[$set]:-}" ]; then
            rule_matrices "-s $set" "$set" "$rule"
        fi
        mapfile -t -O "${#matrices[@]}" matrices < <(set_members "$set")
    done
    for rule in "${rules[@]}"; do
        rule_matrices "-w '$rule'" where "$rule"
    done
    mapfile -t matrices < <(printf '%s\n' "${matrices[@]}" "$@" | awk 'NF && !seen[$0]++')
    for matrix in "${matrices[@]}"; do file_assign "$matrix"; done
    [ "$dry_run" ] || lists_write
}
