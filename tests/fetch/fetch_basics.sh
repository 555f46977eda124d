# fetch_suitesparse.sh against a mirror in a folder, by file:// addresses: sets, what is there, what
# is in an archive, wrong usage. Part of test_fetch.sh.
# shellcheck shell=bash disable=SC2154,SC2034

add G one one.mtx "$banner"
add G two two.mtx "$banner"
add H three three.mtx "$banner"
add H one one.mtx "$banner of H"
add G empty README 'nothing else'
add G html html.mtx '<html>'
head -c 5000 /dev/urandom >"$work/noise"
add G torn torn.mtx "$banner $(base64 "$work/noise")"
head -c 3000 "$work/mirror/G/torn.tar.gz" >"$work/torn"
mv "$work/torn" "$work/mirror/G/torn.tar.gz"
echo 'no archive at all' >"$work/mirror/G/text.tar.gz"
# Archives that would like to write elsewhere: ../x, a link, the same file twice, one too few folders.
mkdir -p "$work/tree/above" "$work/tree/link" "$work/tree/twice"
echo "$banner" | tee "$work/tree/above.mtx" "$work/tree/above/above.mtx" "$work/tree/twice/twice.mtx" \
    "$work/tree/flat.mtx" >"$work/tree/stray.mtx"
ln -s /etc/passwd "$work/tree/link/link.mtx"
(
    cd "$work/tree/above" && tar -P -czf "$work/mirror/G/above.tar.gz" ../above.mtx ../stray.mtx
    cd .. && tar -czf "$work/mirror/G/link.tar.gz" link
    tar -czf "$work/mirror/G/flat.tar.gz" flat.mtx
    tar -czf "$work/mirror/G/twice.tar.gz" twice twice/twice.mtx --hard-dereference
    tar -P -czf "$work/mirror/G/more.tar.gz" --transform 's|^above/above.mtx|more/more.mtx|' \
        --transform 's|^stray.mtx|../../../stray.mtx|' above/above.mtx stray.mtx
)
# A small archive with a large matrix of holes, in both formats that tar has for them.
mkdir -p "$work/tree/holes"
echo "$banner" >"$work/tree/holes/holes.mtx"
truncate -s 1G "$work/tree/holes/holes.mtx"
tar -C "$work/tree" --format=gnu -Sczf "$work/mirror/G/holes.tar.gz" holes
mkdir -p "$work/mirror/H"
tar -C "$work/tree" --format=posix -Sczf "$work/mirror/H/holes.tar.gz" holes
rm -r "$work/tree"
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
@heavy     nnz>=1e6
@twins     name=twin
@broken    nnz<<3
END
known='good both made bad odd odd2 torn heavy twins broken'

# A list as some editors write lists, and with a path that only a sweep reads.
cp "$work/list" "$work/plain"
printf '\xef\xbb\xbf%s\n"a folder/x y.mtx" good # mine\n' 'G/one good' >"$work/list"
fetch -n -s good "$work/a"
check 'a list with a mark and quotes: status' status_is 0
check 'a list with a mark and quotes: the matrix' prints \
    "would fetch file://$work/mirror/G/one.tar.gz $(wc -c <"$work/mirror/G/one.tar.gz")"
mv "$work/plain" "$work/list"

fetch -n -s good "$work/a"
check 'dry run: status' status_is 0
bytes=$(wc -c <"$work/mirror/G/one.tar.gz")
check 'dry run: lists two' prints "would fetch file://$work/mirror/G/one.tar.gz $bytes
would fetch file://$work/mirror/G/two.tar.gz $(wc -c <"$work/mirror/G/two.tar.gz")"
check 'dry run: bytes and time' grep -qE \
    '^2 to fetch, [0-9]+ bytes; about 1 s at 10 MB/s \(assumed\); unpacked about [0-9.]+ [a-zA-Z]+, .* are free$' "$work/err"
check 'dry run: makes nothing' [ ! -e "$work/a" ]

fetch -s good "$work/a"
check 'fetch: status' status_is 0
check 'fetch: files' holds "$work/a" './one.mtx ./two.mtx '
check 'fetch: content' [ "$(cat "$work/a/one.mtx")" = "$banner" ]
check 'fetch: bytes and time come first' grep -qE '^2 to fetch, ' <(head -n 1 "$work/err")
check 'fetch: closing line' says '2 fetched, 0 there already, 0 failed'
check 'fetch: lock' [ "$(grep -v '^#' "$work/a/fetch.lock" | sort -k 3)" = \
    "$(for m in one two; do echo "$(sha256sum <"$work/a/$m.mtx" | cut -d ' ' -f 1) 46 G/$m $m.mtx"; done)" ]

fetch -s good,both -j 3 "$work/a"
check 'again: status' status_is 0
check 'again: only the new one' says '1 fetched, 2 there already, 0 failed'
check 'again: files' holds "$work/a" './one.mtx ./three.mtx ./two.mtx '
fetch -n -s good "$work/a"
check 'again: dry run' prints 'have G/one
have G/two'

# Two groups have a matrix of this name: the first has the name, also in a later run.
fetch "$work/a" H/one G/one
check 'one name twice: status' status_is 0
check 'one name twice: files' holds "$work/a" './H-one.mtx ./one.mtx ./three.mtx ./two.mtx '
check 'one name twice: content' [ "$(cat "$work/a/H-one.mtx")" = "$banner of H" ]
fetch "$work/a" H/one G/one
check 'one name twice: again' says '0 fetched, 2 there already, 0 failed'

# fetch.lock: a file that has changed, one that came by other ways, one that is wrong.
fetch "$work/lock" G/one H/three
echo "$banner and more" >"$work/lock/one.mtx"
fetch "$work/lock" G/one H/three
check 'lock, other size: status' status_is 1
check 'lock, other size: said' says "FAILED G/one: $work/lock/one.mtx has 55 bytes, not 46 as in fetch.lock; remove it"
check 'lock, other size: left alone' [ "$(cat "$work/lock/one.mtx")" = "$banner and more" ]
echo "${banner/real/tale}" >"$work/lock/one.mtx"
fetch "$work/lock" G/one
check 'lock, same size: not seen without -c' status_is 0
fetch -c "$work/lock" G/one H/three
check 'lock, -c: status' status_is 1
check 'lock, -c: said' says "FAILED G/one: $work/lock/one.mtx has SHA-256 $(sha256sum <"$work/lock/one.mtx" | cut -d ' ' -f 1), not "
check 'lock, -c: the other is right' says '0 fetched, 1 there already, 1 failed'
fetch -n -c "$work/lock" G/one H/three
check 'lock, -n -c: status' status_is 1
check 'lock, -n -c: what is different' prints 'different G/one
have H/three'
rm "$work/lock/one.mtx"
fetch -c "$work/lock" G/one H/three
check 'lock, removed: it is fetched again' says '1 fetched, 1 there already, 0 failed'
check 'lock, removed: one line for each' [ "$(grep -c ' G/one ' "$work/lock/fetch.lock")" = 1 ]
rm "$work/lock/fetch.lock"
fetch "$work/lock" G/one
check 'lock, none: what is there is taken' says '0 fetched, 1 there already, 0 failed'
check 'lock, none: and noted' grep -qE '^[0-9a-f]{64} 46 G/one one.mtx$' "$work/lock/fetch.lock"
for line in 'abc 46 G/one one.mtx' "$(printf '%064d' 0) 46 G/one ../one.mtx" "$(printf '%064d' 0) 46 ../G/one G/one.mtx"; do
    echo "$line" >"$work/lock/fetch.lock"
    fetch "$work/lock" G/one
    check "lock, '$line': status" status_is 1
    check "lock, '$line': said" says "$work/lock/fetch.lock:1: 'SHA256 BYTES Group/Name FILE' is wanted"
done

# The server has another matrix under the name than the first time.
fetch "$work/changed" G/two
rm "$work/changed/two.mtx"
cp "$work/mirror/G/two.tar.gz" "$work/two.tar.gz"
add G two two.mtx "$banner, edited"
fetch "$work/changed" G/two
check 'changed: status' status_is 1
check 'changed: said' says 'FAILED G/two: it is not what came first: SHA-256 '
check 'changed: both are kept' holds "$work/changed" './two.mtx.changed '
check 'changed: the lock stays' grep -q ' 46 G/two two.mtx$' "$work/changed/fetch.lock"
fetch "$work/changed" G/two
check 'changed, again: status' status_is 1
check 'changed, again: said' says "FAILED G/two: $work/changed/two.mtx.changed came before"
mv "$work/changed/two.mtx.changed" "$work/changed/two.mtx"
sed -i '/two/d' "$work/changed/fetch.lock"
fetch -c "$work/changed" G/two
check 'changed, accepted: status' status_is 0
mv "$work/two.tar.gz" "$work/mirror/G/two.tar.gz"

fetch -s made "$work/b"
check 'only generated ones: status' status_is 0
check 'only generated ones: nothing' holds "$work/b" ''

fetch -s bad,good "$work/c"
check 'missing: status' status_is 1
check 'missing: named' says 'FAILED G/missing: curl: (37)'
check 'missing: the others are there' holds "$work/c" './one.mtx ./two.mtx '
check 'missing: closing line' says '2 fetched, 0 there already, 1 failed'

fetch -s odd,odd2,torn -r 1 -j 4 "$work/d" G/above G/link G/flat G/twice
check 'other content: status' status_is 1
check 'other content: said' says 'FAILED G/empty: the archive holds no empty/empty.mtx'
check 'no Matrix Market: said' says 'FAILED G/html: html.mtx in the archive is no Matrix Market file'
check 'damaged: torn' says 'FAILED G/torn: the archive is damaged'
check 'damaged: text' says "FAILED G/text: what came is no archive; it begins with 'no archive at all '"
check '../name: said' says 'FAILED G/above: the archive holds no above/above.mtx'
check 'link: said' says 'FAILED G/link: link.mtx in the archive is no Matrix Market file'
check 'no folder: said' says 'FAILED G/flat: the archive holds no flat/flat.mtx'
check 'twice: said' says 'FAILED G/twice: the archive holds twice/twice.mtx 2 times'
for group in G H; do
    fetch "$work/d" "$group/holes"
    check "holes of $group: status" status_is 1
    check "holes of $group: said" says "FAILED $group/holes: holes.mtx has 1.1 GB and its archive "
done
check 'failures leave nothing' holds "$work/d" ''
fetch "$work/d/deep" G/more
check 'others in the archive: only the matrix' holds "$work/d" './deep/more.mtx '
check 'others in the archive: none elsewhere' [ ! -e "$work/stray.mtx" ]

fetch "$work/e" H/three H/three
check 'by name: status' status_is 0
check 'by name: files' holds "$work/e" './three.mtx '

(cd "$work" && BASE="file://$work/nowhere file://$work/mirror" \
    "$root/fetch_suitesparse.sh" -l list -s good >"$work/out" 2>"$work/err")
check 'second address, default folder' holds "$work/matrices" './one.mtx ./two.mtx '

# Folders with odd names.
odd='-a b:c\d'
(cd "$work" && mkdir odd && cd odd && BASE=$base "$root/fetch_suitesparse.sh" -- "$odd" H/three >"$work/out" 2>"$work/err")
status=$?
check 'odd folder: status' status_is 0
check 'odd folder: files' holds "$work/odd" "./$odd/three.mtx "
check 'odd folder: lock' grep -q "^$(sha256sum <"$work/odd/$odd/three.mtx" | cut -d ' ' -f 1) 46 H/three three.mtx\$" \
    "$work/odd/$odd/fetch.lock"

# Two at work in one folder, and one that was killed there.
mkdir -p "$work/taken/.part"
sleep 60 &
other=$!
echo "$(uname -n) $other" >"$work/taken/.part/owner"
fetch "$work/taken" G/one
check 'two at work: status' status_is 1
check 'two at work: said' says "process $other on $(uname -n) is at work in $work/taken (if not, remove $work/taken/.part/owner)"
kill "$other"
wait "$other" 2>/dev/null
fetch "$work/taken" G/one
check 'the other was killed: status' status_is 0
check 'the other was killed: files' holds "$work/taken" './one.mtx '
# Its downloads notice that a little later: they are waited for.
sleep 1.5 &
download=$!
mkdir -p "$work/taken/.part"
printf '%s %s\n%s\n' "$(uname -n)" "$other" "$download" >"$work/taken/.part/owner"
fetch "$work/taken" H/three
check 'a download of the other: status' status_is 0
check 'a download of the other: waited for' [ "$(kill -0 "$download" 2>/dev/null && echo runs)" = '' ]

mkdir -p "$work/taken/.part"
: >"$work/taken/.part/owner"
fetch "$work/taken" H/three
check 'nobody at work: said' says "$work/taken/.part/owner does not say who is at work in $work/taken; remove it if nobody is"

# Room: this df knows of 1 kB, then of a little more.
mkdir -p "$work/bin"
# df_says KB
df_says() {
    printf '#!/bin/sh\necho Filesystem\necho "/dev/x 9 9 %s 9%% /"\n' "$1" >"$work/bin/df"
    chmod +x "$work/bin/df"
}
df_says 0
PATH="$work/bin:$PATH" fetch "$work/full" G/one
check 'no room: status' status_is 1
check 'no room: said' says "no room in $work/full: 0 bytes are free, the archives alone are $bytes bytes"
check 'no room: nothing' holds "$work/full" ''
PATH="$work/bin:$PATH" fetch -n "$work/full" G/one
check 'no room, -n: said' says 'no room in '
big G big
df_says 250
PATH="$work/bin:$PATH" fetch "$work/full" G/big
check 'little room: status' status_is 0
check 'little room: said' says 'warning: there may be no room for all of them'
rm "$work/bin/df"

# A disk that is full in the middle: the archive may not have more than 100 kB.
(ulimit -f 100 && fetch "$work/limit" G/big && exit "$status")
status=$?
check 'disk full: status' status_is 1
check 'disk full: said' says "FAILED G/big: $work/limit cannot be written into; is the disk full?"
check 'disk full: no half matrix' [ ! -e "$work/limit/big.mtx" ]
fetch "$work/limit" G/big
check 'disk full, room again' same "$work/limit/big.mtx" "$work/texts/big.mtx"

wrong 'bad set' "-s nine: no such set in list; there are all $known" -s nine
wrong 'bad option' 'no option -q; -h shows all' -q
wrong 'an empty set' "-s '': names no set, as of a variable that is not set" -s ''
wrong 'no value' '-s wants a value; -h shows how' -s
wrong 'bad jobs' '-j 0: a number from 1 to 99 is wanted' -j 0
wrong 'bad tries' '-r x: a number from 1 to 99 is wanted' -r x
wrong 'bad patience' '-t 0: a number of seconds from 1 to 9999 is wanted' -t 0
wrong 'bad name' '../x: Group/Name is wanted' "$work/h" ../x
printf 'G/one x\n../../G/two x\n' >"$work/list2"
wrong 'bad name in the list' '../../G/two: Group/Name is wanted' -s x -l "$work/list2" "$work/h"
wrong 'option as a name' '-G/-one: Group/Name is wanted' "$work/h" -G/-one
check 'wrong usage makes nothing' [ ! -e "$work/h" ]
BASE=$base "$root/fetch_suitesparse.sh" -l "$work/none" -s good 2>"$work/err"
status=$?
check 'no list: status' status_is 2
check 'no list: said' says "-l $work/none: cannot be read"
fetch -h
check 'help: status' status_is 0
check 'help: sets' grep -qx "The sets of LIST: $known" "$work/out"
# Every option that is parsed is in the help, and the other way round.
check 'help: options' [ "$(sed -n 's/^  -\([a-z]\) .*/\1/p' "$work/out" | sort | tr -d '\n')" = \
    "$(sed -n "s/^while getopts ':\(.*\)' option.*/\1/p" "$root/fetch_suitesparse.sh" | tr -d : | fold -w 1 | sort | tr -d '\n')" ]
