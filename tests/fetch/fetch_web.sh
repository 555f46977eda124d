# fetch_suitesparse.sh against a web server that goes wrong on purpose (fetch_server.py): a matrix
# group for each way. Part of test_fetch.sh.
# shellcheck shell=bash disable=SC2154,SC2034

for group in Slow CutOnce CutNoRange CutSilent StallOnce Corrupt CorruptOnce PageOnce BusyOnce NoHead Good Half; do
    big "$group" "${group,,}"
done
cp -r "$work/mirror/Slow" "$work/mirror/Redirect"
cp "$work/mirror/Slow/slow.tar.gz" "$work/mirror/Slow/redirect.tar.gz"

export no_proxy=127.0.0.1
mkfifo "$work/server.in"
python3 "$root/tests/fetch/fetch_server.py" "$work/mirror" "$work/log" <"$work/server.in" >"$work/server" 2>"$work/server.err" &
server=$!
exec 9>"$work/server.in" # it ends when this is closed
touch "$work/log"
until_true [ -s "$work/server" ]
base=$(cat "$work/server")
check 'the server is there' [ -n "$base" ]
# requests PATH: what the server logged of it, without HEAD: RANGE STATUS BYTES
requests() { sed -n "s|^GET /$1.tar.gz ||p" "$work/log"; }
size() { wc -c <"$work/mirror/$1.tar.gz"; }

# All at once, each goes wrong once at most.
add Slow redirect redirect.mtx "$(cat "$work/texts/slow.mtx")"
fetch -j 9 -t 2 "$work/web" Slow/slow CutOnce/cutonce CutNoRange/cutnorange CutSilent/cutsilent StallOnce/stallonce \
    CorruptOnce/corruptonce PageOnce/pageonce BusyOnce/busyonce NoHead/nohead Redirect/redirect
check 'web: status' status_is 0
check 'web: all' says '10 fetched, 0 there already, 0 failed'
for name in slow cutonce cutnorange cutsilent stallonce corruptonce pageonce busyonce nohead; do
    check "web: $name" same "$work/web/$name.mtx" "$work/texts/$name.mtx"
done
check 'web: redirect' same "$work/web/redirect.mtx" "$work/texts/slow.mtx"
check 'web: nothing else' [ ! -e "$work/web/.part" ]
check 'web: sizes' grep -qE '^10 to fetch, [0-9]+ kB and 3 of unknown size; ' "$work/err"
half=$(($(size CutOnce/cutonce) / 2))
check 'web: cut, the rest is asked for' [ "$(requests CutOnce/cutonce)" = "- 200 $half
bytes=$half- 206 $(($(size CutOnce/cutonce) - half))" ]
half=$(($(size StallOnce/stallonce) / 2))
check 'web: stalled, the rest is asked for' [ "$(requests StallOnce/stallonce)" = "- 200 $half
bytes=$half- 206 $(($(size StallOnce/stallonce) - half))" ]
check 'web: no ranges, all anew' [ "$(requests CutNoRange/cutnorange | tail -n 1)" = "- 200 $(size CutNoRange/cutnorange)" ]
check 'web: error page, all anew' [ "$(requests PageOnce/pageonce | tail -n 1)" = "- 200 $(size PageOnce/pageonce)" ]
check 'web: corrupt, all anew' [ "$(requests CorruptOnce/corruptonce | tail -n 1)" = "- 200 $(size CorruptOnce/corruptonce)" ]
check 'web: length of a page' [ "$(requests BusyOnce/busyonce | head -n 1)" = '- 503 4' ]
: >"$work/log"
fetch "$work/web" Slow/slow CutOnce/cutonce
check 'web: again, no request' [ ! -s "$work/log" ]

# All of it is there from before, and the server does not say how large it is.
big NoHead whole
mkdir -p "$work/whole/.part/NoHead"
cp "$work/mirror/NoHead/whole.tar.gz" "$work/whole/.part/NoHead/whole.tar.gz"
fetch "$work/whole" NoHead/whole
check 'web: there is no rest: status' status_is 0
check 'web: there is no rest: one request' [ "$(requests NoHead/whole)" = "bytes=$(size NoHead/whole)- 416 0" ]
check 'web: there is no rest: content' same "$work/whole/whole.mtx" "$work/texts/whole.mtx"

# What stays wrong.
fetch -j 9 -r 2 "$work/bad" Corrupt/corrupt Page/page Forbidden/forbidden Loop/loop ToFile/tofile Good/none Good/good
check 'web, wrong: status' status_is 1
check 'web, wrong: the good one' holds "$work/bad" './good.mtx '
check 'web, wrong: corrupt' says 'FAILED Corrupt/corrupt: the archive is damaged'
check 'web, wrong: error page' says "FAILED Page/page: what came is no archive; it begins with '<!DOCTYPE html><title>We will be back so'"
check 'web, wrong: forbidden' says 'FAILED Forbidden/forbidden: curl: (22) The requested URL returned error: 403'
check 'web, wrong: missing' says 'FAILED Good/none: curl: (22) The requested URL returned error: 404'
check 'web, wrong: endless redirects' says 'FAILED Loop/loop: curl: (47)'
check 'web, wrong: redirect to a file' says 'FAILED ToFile/tofile: curl: (1)'
check 'web, wrong: tried again' [ "$(requests Corrupt/corrupt | wc -l)$(requests Forbidden/forbidden | wc -l)" = 21 ]

# Many sizes are asked for over few connections; a server that is not there costs no time.
fetch -n "$work/none" Good/good Good/good2 Good/good3
check 'web, -n: only heads' [ -z "$(grep '^GET /Good/good[23]' "$work/log")" ]
check 'web, -n: size' grep -qxF "would fetch $base/Good/good.tar.gz $(size Good/good)" "$work/out"
check 'web, -n: unknown' grep -qxF "would fetch $base/Good/good2.tar.gz ?" "$work/out"
web=$base
base="http://127.0.0.1:1 $web"
fetch -n "$work/second" Good/good
check 'web, a dead server: the other comes first' prints "would fetch $web/Good/good.tar.gz $(size Good/good)"
fetch -j 2 -r 1 "$work/second" Good/good Slow/slow
check 'web, a dead server: status' status_is 0
base=$web

# Ended in the middle, by SIGTERM, Ctrl-C and SIGKILL: the server sends half and stands still.
big StallOnce half
big StallOnce pressed
big StallOnce killed
# 2> comes first: the shell itself says that there is no such file.
part_size() { wc -c 2>/dev/null <"$work/$1/.part/StallOnce/$1.tar.gz" || echo 0; }
part_grows() { [ "$(part_size "$1")" -gt 50000 ]; }
curl_ended() { ! pgrep -f "$work/$1/.part" >/dev/null; }
# interrupt SIGNAL NAME
interrupt() {
    BASE=$base "$root/fetch_suitesparse.sh" -t 999 "$work/$2" "StallOnce/$2" >"$work/out" 2>"$work/err" &
    local script=$!
    until_true part_grows "$2"
    check "$1: half is there" part_grows "$2"
    check "$1: not under its name" [ ! -e "$work/$2/$2.mtx" ]
    kill "-$1" "$script"
    wait "$script" 2>/dev/null
    status=$?
}
interrupt TERM half
check 'TERM: status' status_is 130
check 'TERM: said' [ "$(tail -n 1 "$work/err")" = 'interrupted; run it again to go on' ]
check 'TERM: the part stays' holds "$work/half" './.part/StallOnce/half.tar.gz '
check 'TERM: curl has ended' until_true curl_ended half
have=$(part_size half)
whole=$(size StallOnce/half)
fetch -n "$work/half" StallOnce/half
check 'TERM, -n: what is there' prints "would fetch $base/StallOnce/half.tar.gz $whole ($have there)"
check 'TERM, -n: bytes of the rest' says "1 to fetch, $(((whole - have + 500) / 1000)) kB; "
: >"$work/log"
fetch "$work/half" StallOnce/half
check 'TERM, again: status' status_is 0
check 'TERM, again: only the rest' [ "$(requests StallOnce/half)" = "bytes=$have- 206 $((whole - have))" ]
check 'TERM, again: content' same "$work/half/half.mtx" "$work/texts/half.mtx"
check 'TERM, again: nothing else' holds "$work/half" './half.mtx '
# Ctrl-C on a terminal.
BASE=$base python3 - "$work/pressed/.part/StallOnce/pressed.tar.gz" "$root/fetch_suitesparse.sh" -t 999 \
    "$work/pressed" StallOnce/pressed >"$work/out" 2>"$work/err" <<'END'
import os, pty, signal, sys, time
process, terminal = pty.fork()
if process == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored in what runs in the background
    os.execv(sys.argv[2], sys.argv[2:])
for _ in range(1200):
    if os.path.exists(sys.argv[1]) and os.path.getsize(sys.argv[1]) > 50000:
        break
    time.sleep(0.05)
os.write(terminal, b"\x03")
try:
    while text := os.read(terminal, 1000):
        sys.stderr.write(text.decode())
except OSError:  # how the end of a terminal looks
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
END
status=$?
check 'Ctrl-C: status' status_is 130
check 'Ctrl-C: said' says 'interrupted; run it again to go on'
check 'Ctrl-C: the part stays' part_grows pressed
check 'Ctrl-C: curl has ended' until_true curl_ended pressed
fetch "$work/pressed" StallOnce/pressed
check 'Ctrl-C, again: content' same "$work/pressed/pressed.mtx" "$work/texts/pressed.mtx"

# The script was killed, its curl was not: that ends by itself, and the next run waits for it.
interrupt KILL killed
check 'KILL: the part stays' part_grows killed
: >"$work/log"
fetch "$work/killed" StallOnce/killed
check 'KILL, again: status' status_is 0
check 'KILL, again: only the rest' grep -qE '^bytes=[0-9]+- 206 ' <(requests StallOnce/killed)
check 'KILL, again: content' same "$work/killed/killed.mtx" "$work/texts/killed.mtx"
check 'KILL, again: nothing else' holds "$work/killed" './killed.mtx '

exec 9>&-
kill "$server"
wait "$server" 2>/dev/null
check 'the server had no error' [ ! -s "$work/server.err" ]
base=file://$work/mirror
