"""Lets providers start over in a child process, right after a fork."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    """An object with state that a parent and its child must not share."""

    def _after_fork(self) -> None:
        """Start over. Called in the child, on its only thread, right after the fork."""


_forkables: WeakSet[Forkable] = WeakSet()


def watch_forks(forkable: Forkable) -> None:
    """Call ``forkable._after_fork()`` in every child that this process forks, for as long as the object exists.

    This covers ``os.fork``, ``multiprocessing`` with the start method fork, and servers that load the app before they fork, such
    as gunicorn with ``--preload``.
    """
    _forkables.add(forkable)


def _after_fork() -> None:
    for forkable in list(_forkables):
        forkable._after_fork()


# Windows cannot fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
