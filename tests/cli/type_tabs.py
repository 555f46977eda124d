#!/usr/bin/env python3
"""Types into a bash on a terminal of its own, and looks at what Tab makes of it.

Call: type_tabs.py COMPLETION_SCRIPT, in a folder with a file web.mtx.
"""
import os
import pty
import select
import sys
import time

PATIENCE_S = 20
CASES = (  # what is typed before Tab, and how the line then ends
    ("spbench ro", "spbench roof "),
    ("./spbench doct", "./spbench doctor "),
    ("spbench -alg rowsp", "-alg rowsplit "),
    ("spbench -alg=merge,rows", "-alg=merge,rowsplit "),
    ("spbench -check=fu", "-check=full "),
    ("spbench -device=cp", "-device=cpu "),
    ("spbench -opt thres", "-opt threshold="),
    ("spbench gen:sten", "gen:stencil:"),
    ("spbench -k 64 we", "-k 64 web.mtx "),
    ("spbench -o we", "-o web.mtx "),
)

pid, terminal = pty.fork()
if not pid:
    os.environ.update(PS1="> ", TERM="dumb", INPUTRC="/dev/null", HISTFILE="")
    os.environ.pop("PROMPT_COMMAND", None)
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])


def read_until(text):
    """What the terminal shows until the text is there; whatever it is after a while."""
    shown, end = "", time.monotonic() + PATIENCE_S
    while text not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def write(text):
    os.write(terminal, text.encode())


wrong = 0
write(f". '{sys.argv[1]}'; echo rea''dy\n")
if "ready" not in read_until("ready\r\n"):
    sys.exit("no bash on a terminal")
for typed, wanted in CASES:
    write(typed + "\t")
    shown = read_until(wanted)
    if wanted not in shown:
        print(f"{typed!r} and Tab show {shown!r}, not {wanted!r}")
        wrong += 1
    write("\x15")  # takes the line back
write("exit\n")
sys.exit(wrong != 0)
