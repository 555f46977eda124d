"""Runs the scripts of plots/ for test_plots.py. A server process imports matplotlib. Each run is a
fork of the server, which saves the time of the import. With --help, run() starts a new Python."""

import contextlib
import glob
import importlib
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
import traceback

PLOTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "plots")
server = None


def run(script, *args):
    """Runs plots/SCRIPT with these arguments. Returns the exit status, stdout and stderr."""
    global server
    command = [os.path.join(PLOTS, script), *args]
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    if "--help" in args:
        done = subprocess.run([sys.executable, *command], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stdout, done.stderr
    if not server:
        server = subprocess.Popen([sys.executable, os.path.abspath(__file__)], env=env, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with tempfile.NamedTemporaryFile("r+") as out, tempfile.NamedTemporaryFile("r+") as err:
        print(json.dumps([command, out.name, err.name, os.getcwd()]), file=server.stdin, flush=True)
        return int(server.stdout.readline()), out.read(), err.read()


def end():
    """Ends the server, if there is any."""
    if server:
        server.stdin.close()
        server.wait()


def told(function, *args):
    """What the function returns, and what it says on stderr."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        value = function(*args)
    return value, said.getvalue()


def fails(function, *args):
    """Why a script says that there is nothing to draw."""
    try:
        function(*args)
    except importlib.import_module("records").NoData as why:
        return str(why)
    return "nothing failed"


# The server.


def be_script(command, out, err, folder):
    """Replaces this process by the script."""
    for path, number in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY), number)
    os.chdir(folder)
    sys.argv = command
    status = 0
    try:
        runpy.run_path(command[0], run_name="__main__")
    except SystemExit as end_of_script:
        status = end_of_script.code or 0
        if not isinstance(status, int):
            print(status, file=sys.stderr)
            status = 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def serve():
    """Imports the modules that take long, draws a figure, and forks for each line of stdin."""
    sys.path[0] = PLOTS
    for path in sorted(glob.glob(PLOTS + "/*.py")):
        importlib.import_module(os.path.splitext(os.path.basename(path))[0])
    drawing = importlib.import_module("drawing")
    drawing.load()
    fig, _ = drawing.subplots()
    fig.savefig(io.BytesIO(), format="png", dpi=20)
    drawing.plt.close(fig)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            be_script(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
