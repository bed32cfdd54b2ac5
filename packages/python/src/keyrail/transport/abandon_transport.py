"""Closes a connection without its event loop."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any


def abandon_transport(transport: Any, *, after_fork: bool = False) -> None:
    """Close a transport of asyncio without its event loop, and without a warning.

    asyncio closes a connection only on its loop, and has no public function for a loop that is closed or that belongs to the parent of
    a fork. So this function uses private members, and skips those that do not exist.

    Args:
        transport: The transport.
        after_fork: Whether it belongs to the parent of this process. The parent's connection stays open and usable.

    """
    if after_fork:
        _detach_from_parent(transport)
    try:
        transport.abort()
    except RuntimeError:
        # The loop is closed: asyncio marked the transport as closed, but could not schedule the final callback.
        # With TLS, the socket transport is inside the transport of the protocol.
        inner = transport
        while (below := getattr(getattr(inner, "_ssl_protocol", None), "_transport", None)) is not None:
            if hasattr(inner, "_closed"):
                # Python 3.10 sets it only after the callback is scheduled, and warns otherwise.
                inner._closed = True
            inner = below
        with suppress(RuntimeError, AttributeError):
            inner._call_connection_lost(None)


def _detach_from_parent(transport: Any) -> None:
    """Replace the file descriptor of a socket that the parent uses by /dev/null.

    If the descriptor were closed, the next connection could get the same number, which the inherited loop still watches. If the
    connection were closed properly, that would send a TLS alert and remove it from the epoll instance that parent and child share.
    """
    sock = transport.get_extra_info("socket")
    number = sock.fileno() if sock is not None else -1
    if number < 0:
        return
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, number, inheritable=False)
    os.close(null)
