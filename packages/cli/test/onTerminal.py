"""Run a program on a pseudo-terminal: stdin is typed there, and its output goes to stdout."""

import os
import pty
import select
import sys

child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])

watched = [terminal, 0]
while True:
    ready, _, _ = select.select(watched, [], [])
    if terminal in ready:
        try:
            seen = os.read(terminal, 65536)
        except OSError:
            # Linux: the program has closed the terminal.
            break
        if not seen:
            break
        os.write(1, seen)
    if 0 in ready:
        typed = os.read(0, 65536)
        if typed:
            os.write(terminal, typed)
        else:
            watched = [terminal]

sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
