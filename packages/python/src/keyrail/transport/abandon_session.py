"""Closes the connections of an aiohttp session whose event loop can no longer do it."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import aiohttp


def abandon_session(session: aiohttp.ClientSession, *, after_fork: bool = False) -> None:
    """Close the connections of a session without its event loop, and without a warning.

    aiohttp and asyncio close a connection on its loop only, and have no public call for a loop that is closed or was left behind
    in the parent of a fork. So this reads private members of both, and skips what is not there.

    Args:
        session: The session. It counts as closed afterwards.
        after_fork: Whether the session belongs to the parent of this process. Its connections stay open there: nothing is sent,
            and the parent's loop keeps watching them.

    """
    connector: Any = session.connector
    session.detach()
    if connector is None:
        return
    idle = [held[0] for queue in getattr(connector, "_conns", {}).values() for held in queue]
    busy = list(getattr(connector, "_acquired", ()))
    for protocol in [*idle, *busy]:
        transport = getattr(protocol, "transport", None)
        if transport is not None:
            _close(transport, after_fork)
    for name in ("_conns", "_acquired"):
        # A connector that holds connections would log that nobody closed it.
        getattr(connector, name, set()).clear()


def _close(transport: Any, after_fork: bool) -> None:
    if after_fork:
        _detach_from_parent(transport)
    try:
        transport.abort()
    except RuntimeError:
        # The loop is closed: asyncio has marked the transport as closed, but cannot schedule the rest, which is this call.
        # With TLS, the transport of the socket is below the one that aiohttp knows.
        below = getattr(getattr(transport, "_ssl_protocol", None), "_transport", None) or transport
        with suppress(RuntimeError, AttributeError):
            below._call_connection_lost(None)


def _detach_from_parent(transport: Any) -> None:
    """Put /dev/null in the place of a socket that the parent uses.

    Closing its number would let the next connection take it, while the inherited loop still knows the number. Closing the
    connection properly would send a TLS alert, and take it from the parent's poll, which the child shares.
    """
    sock = transport.get_extra_info("socket")
    number = sock.fileno() if sock is not None else -1
    if number < 0:
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, number, inheritable=False)
    os.close(nothing)
