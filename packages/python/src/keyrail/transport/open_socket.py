"""Connects sockets to the first address of a server that responds, and sets their options."""

from __future__ import annotations

import errno
import os
import selectors
import socket
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

from .request_target import Address
from .steps import now_ms

AddressInfo: TypeAlias = "tuple[Any, Any, int, str, Any]"
"""An address, as ``socket.getaddrinfo`` returns it."""

NEXT_ADDRESS_MS = 250
"""If an address does not respond in this time, the next one is tried as well, as in RFC 8305."""

_IN_PROGRESS = (0, errno.EINPROGRESS, errno.EWOULDBLOCK)
# Probes end an idle connection that no longer leads anywhere within four seconds, so that no request is sent over it.
_PROBES = (("TCP_KEEPIDLE", 1), ("TCP_KEEPALIVE", 1), ("TCP_KEEPINTVL", 1), ("TCP_KEEPCNT", 3))


class GoodAddresses:
    """Remembers to which address of a server the last connection was opened, and sorts it first."""

    def __init__(self) -> None:
        self._last: dict[Address, Any] = {}

    def sort(self, server: Address, found: Sequence[AddressInfo]) -> list[AddressInfo]:
        """Sort the addresses of a server."""
        last = self._last.get(server)
        return sorted(found, key=lambda one: one[4] != last)

    def remember(self, server: Address, sock: socket.socket) -> None:
        """Remember the address of a connected socket."""
        self._last[server] = sock.getpeername()


def _set_options(sock: socket.socket) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # The names differ between systems.
    for name, value in _PROBES:
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def prepare(sock: socket.socket, server: Address, good: GoodAddresses) -> socket.socket:
    """Set the options of a connected socket, and remember its address. Close it if the server has ended the connection.

    Args:
        sock: The socket.
        server: The server.
        good: Where to remember the address.

    Raises:
        OSError: If the server has ended the connection.

    """
    try:
        good.remember(server, sock)
        _set_options(sock)
    except OSError:
        sock.close()
        raise
    return sock


def open_socket(server: Address, good: GoodAddresses, until: float) -> socket.socket:
    """Connect to the first address that responds.

    Args:
        server: The server.
        good: The addresses that worked.
        until: When to stop, by ``now_ms``.

    Raises:
        TimeoutError: If no address responded in time.
        OSError: If no address can be reached.
        ValueError: If the name of the host is not valid.

    """
    found = socket.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM)
    return prepare(_connect(_alternate(good.sort(server, found)), until), server, good)


def _connect(addresses: list[AddressInfo], until: float) -> socket.socket:
    problem = OSError()
    pending: set[socket.socket] = set()
    selector = selectors.DefaultSelector()
    try:
        while addresses or pending:
            if addresses:
                family, kind, protocol, _, address = addresses.pop(0)
                try:
                    sock = socket.socket(family, kind, protocol)
                except OSError as error:
                    # This system has no IPv6.
                    problem = error
                    continue
                pending.add(sock)
                sock.setblocking(False)
                number = sock.connect_ex(address)
                if number not in _IN_PROGRESS:
                    problem = OSError(number, os.strerror(number))
                    pending.remove(sock)
                    sock.close()
                    continue
                selector.register(sock, selectors.EVENT_WRITE)
            left = until - now_ms()
            if left <= 0:
                raise TimeoutError("timed out")
            for key, _ in selector.select(min(left, NEXT_ADDRESS_MS if addresses else left) / 1_000):
                connected: Any = key.fileobj
                selector.unregister(connected)
                pending.remove(connected)
                number = connected.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if number == 0:
                    result: socket.socket = connected
                    return result
                problem = OSError(number, os.strerror(number))
                connected.close()
        raise problem
    finally:
        selector.close()
        for sock in pending:
            sock.close()


def _alternate(found: list[AddressInfo]) -> list[AddressInfo]:
    """Alternate between IPv6 and IPv4, starting with the first address, because one of them may not work at all."""
    families: dict[Any, list[AddressInfo]] = {}
    for one in found:
        families.setdefault(one[0], []).append(one)
    return [one for group in zip_longest(*families.values()) for one in group if one is not None]
