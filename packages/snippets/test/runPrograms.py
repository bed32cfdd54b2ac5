"""Runs programs of a test, each in a process of its own that has web3.py in memory already: to import it takes a second of a processor.

Each line on standard input is one: ``{"id", "folder", "file", "environment"}``. What it prints is kept in its folder, in ``stdout.txt`` and
``stderr.txt``. When it has ended, a line says so: ``{"id", "code"}``.
"""

import json
import os
import runpy
import signal
import sys

import web3

import keyrail

#: What they are imported for: whoever imports them again gets them at once.
held = (web3, keyrail)


def become(folder, file, environment):
    """Makes this process what ``python3 file`` would be in that folder."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for name, stream in (("stdout.txt", 1), ("stderr.txt", 2)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600), stream)
    sys.argv = [file]
    sys.path[0] = folder
    runpy.run_path(file, run_name="__main__")


def watch(id, **program):
    """Starts one, waits for its end and tells of it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        become(**program)
        sys.exit()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(1, json.dumps({"id": id, "code": code}).encode() + b"\n")
    os._exit(0)


# Nobody asks how those ended that watch.
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    if os.fork() == 0:
        watch(**json.loads(line))
