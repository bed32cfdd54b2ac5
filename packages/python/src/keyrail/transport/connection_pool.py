"""The connections of the synchronous provider to one server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from weakref import finalize

from urllib3.connection import HTTPConnection


class ConnectionPool:
    """Reuses connections, and limits how many are in use at a time. Threads can share it.

    Args:
        create: Creates a connection that is not connected yet.
        max_in_use: The maximum number of connections in use.

    """

    def __init__(self, create: Callable[[], HTTPConnection], max_in_use: int) -> None:
        self._create = create
        self._free = threading.Semaphore(max_in_use)
        # The connection used last is reused first, so that those that are no longer needed expire.
        self._idle: list[HTTPConnection] = []
        self._closed = False
        finalize(self, _close_all, self._idle)

    def take(self, timeout_s: float) -> HTTPConnection | None:
        """Return an open connection if there is an idle one, else a new one. Returns None after a timeout."""
        if not self._free.acquire(timeout=timeout_s):
            return None
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._create()
        if connection.is_connected:
            return connection
        # The server closed it.
        connection.close()
        return self._create()

    def give_back(self, connection: HTTPConnection, reusable: bool) -> None:
        """Keep a connection for the next request, or close it if it is not reusable. Each taken connection must be given back."""
        if reusable:
            self._idle.append(connection)
        else:
            connection.close()
        if self._closed:
            _close_all(self._idle)
        self._free.release()

    def close(self) -> None:
        """Close all idle connections now, and the others when they are given back."""
        self._closed = True
        _close_all(self._idle)


def _close_all(idle: list[HTTPConnection]) -> None:
    while True:
        try:
            connection = idle.pop()
        except IndexError:
            return
        connection.close()
