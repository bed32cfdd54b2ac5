"""Closes the connections of an aiohttp session without its event loop."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import aiohttp


def abandon_session(session: aiohttp.ClientSession, *, after_fork: bool = False) -> None:
    """Close the connections of a session without its event loop, and without a warning.

    aiohttp and asyncio close a connection only on its loop, and have no public function for a loop that is closed or that belongs
    to the parent of a fork. So this function uses private members of both, and skips those that do not exist.

    Args:
        session: The session. It is closed afterwards.
        after_fork: Whether the session belongs to the parent of this process. The parent's connections stay open and usable.

    """
    connector: Any = session.connector
    session.detach()
    if connector is None:
        return
    idle = [entry[0] for queue in getattr(connector, "_conns", {}).values() for entry in queue]
    busy = list(getattr(connector, "_acquired", ()))
    for protocol in [*idle, *busy]:
        transport = getattr(protocol, "transport", None)
        if transport is not None:
            _close(transport, after_fork)
    for name in ("_conns", "_acquired"):
        # A connector that still has connections would log that it was not closed.
        getattr(connector, name, set()).clear()


def _close(transport: Any, after_fork: bool) -> None:
    if after_fork:
        _detach_from_parent(transport)
    try:
        transport.abort()
    except RuntimeError:
        # The loop is closed: asyncio marked the transport as closed, but could not schedule the final callback.
        # With TLS, the socket transport is inside the transport that aiohttp uses.
        socket_transport = getattr(getattr(transport, "_ssl_protocol", None), "_transport", None) or transport
        with suppress(RuntimeError, AttributeError):
            socket_transport._call_connection_lost(None)
        if hasattr(transport, "_closed"):
            # Python 3.10 sets it only after the callback is scheduled, and warns otherwise.
            transport._closed = True


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
