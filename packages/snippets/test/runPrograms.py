"""Runs the programs of a test, each in a forked process with web3.py already imported, because the import takes a second of CPU time.

Each line on standard input starts a program: ``{"id", "folder", "file", "environment"}``. Its output is written to ``stdout.txt`` and
``stderr.txt`` in its folder. When it has exited, a line on standard output reports it: ``{"id", "code"}``.
"""

import json
import os
import runpy
import signal
import sys

import web3

import keyrail

# Imported for the programs, whose own imports are then immediate.
imported = (web3, keyrail)


def run_program(folder, file, environment):
    """Runs the file in this process, as ``python3 file`` would in that folder."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for name, stream in (("stdout.txt", 1), ("stderr.txt", 2)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600), stream)
    sys.argv = [file]
    sys.path[0] = folder
    runpy.run_path(file, run_name="__main__")


def run_and_report(id, **program):
    """Starts a program, waits for its exit and reports it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        run_program(**program)
        sys.exit()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(1, json.dumps({"id": id, "code": code}).encode() + b"\n")
    os._exit(0)


# Nothing waits for the reporting processes, so they must not become zombies.
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    if os.fork() == 0:
        run_and_report(**json.loads(line))
