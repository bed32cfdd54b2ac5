"""The connections of the asynchronous provider in one event loop."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

from .async_connection import AsyncConnection, open_connection
from .http_request import KEEP_ALIVE_S
from .open_socket import GoodAddresses
from .request_target import Route
from .response_reader import ResponseReader
from .steps import now_ms


class AsyncConnections:
    """Reuses connections, and limits how many are in use at a time.

    Args:
        max_in_use: The maximum number of connections in use.
        get_ssl_context: Returns the TLS settings.
        good: The addresses that worked.

    """

    def __init__(self, max_in_use: int, get_ssl_context: Callable[[], ssl.SSLContext], good: GoodAddresses) -> None:
        self.turns = asyncio.Semaphore(max_in_use)
        """Acquired by each request, so that requests have their turns in order."""
        self.is_closed = False
        self._get_ssl_context = get_ssl_context
        self._good = good
        # The one used last is reused first, so that those that are no longer needed expire.
        self._idle: dict[Route, list[AsyncConnection]] = {}
        self._opened: set[AsyncConnection] = set()
        self._expiry: asyncio.TimerHandle | None = None

    async def take(self, route: Route) -> tuple[AsyncConnection, bool]:
        """Return a connection, and whether it was used before. It must be given back.

        Args:
            route: The server, and the proxy.

        Raises:
            OSError: If there is no connection.
            ValueError: If the name of the host is not valid.

        """
        idle = self._idle.get(route)
        while idle:
            connection = idle.pop()
            # After a long time, a firewall may have dropped the connection without a notice.
            if connection.is_idle() and now_ms() - connection.used_at < KEEP_ALIVE_S * 1_000:
                return connection, True
            connection.close()
        ssl_context = self._get_ssl_context() if route.uses_tls else None
        return await open_connection(route, ssl_context, self._good, self._opened), False

    def give_back(self, route: Route, connection: AsyncConnection, reader: ResponseReader) -> None:
        """Keep a connection for the next request, or close it if it cannot be used again.

        Args:
            route: The server, and the proxy.
            connection: The connection.
            reader: The response of the request.

        """
        if self.is_closed or not connection.is_unused(reader):
            connection.close()
            return
        connection.used_at = now_ms()
        self._idle.setdefault(route, []).append(connection)
        if self._expiry is None:
            self._expiry = asyncio.get_running_loop().call_later(KEEP_ALIVE_S, self._expire)

    def close(self) -> None:
        """Close all connections, without waiting, and without their event loop."""
        self._stop()
        for connection in list(self._opened):
            connection.close()

    def _stop(self) -> None:
        self.is_closed = True
        self._idle.clear()
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None

    def _expire(self) -> None:
        """Close the connections that were idle for too long."""
        self._expiry = None
        oldest = now_ms() - KEEP_ALIVE_S * 1_000
        for route, connections in list(self._idle.items()):
            for connection in connections:
                if connection.used_at <= oldest:
                    connection.close()
            left = [one for one in connections if one.is_open]
            if left:
                self._idle[route] = left
            else:
                del self._idle[route]
        first = min((one.used_at for idle in self._idle.values() for one in idle), default=None)
        if first is not None:
            self._expiry = asyncio.get_running_loop().call_later(max(0, first - oldest) / 1_000, self._expire)
