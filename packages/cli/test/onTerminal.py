"""Runs a program on a terminal of its own; what is read here is typed there, and what is to be seen there is printed here."""

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
            # So Linux says that the program has closed it.
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
