"""Lets providers start over in a child process."""

from __future__ import annotations

import os
import threading
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    """An object with state that a parent and its child must not share."""

    def _after_fork(self) -> None:
        """Start over. Called in the child, before it uses any of these objects."""


_forkables: WeakSet[Forkable] = WeakSet()
_process = os.getpid()
_lock = threading.Lock()


def watch_forks(forkable: Forkable) -> None:
    """Call ``forkable._after_fork()`` in every child of this process, for as long as the object exists.

    This covers ``os.fork``, ``multiprocessing`` with the start method fork, and servers that load the app before they fork, such
    as gunicorn with ``--preload``.
    """
    _forkables.add(forkable)


def start_over_in_child() -> None:
    """Start over if this process is a child that was forked without Python's knowledge, as uWSGI does. Called before each use."""
    if os.getpid() != _process:
        with _lock:
            if os.getpid() != _process:
                _after_fork()


def _after_fork() -> None:
    global _process
    for forkable in list(_forkables):
        forkable._after_fork()
    # Last, because other threads use the objects from now on.
    _process = os.getpid()


def _after_known_fork() -> None:
    global _lock
    # A thread of the parent may hold it.
    _lock = threading.Lock()
    _after_fork()


# Windows cannot fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_known_fork)
