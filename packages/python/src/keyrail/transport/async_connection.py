"""A connection of the asynchronous provider."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import sys
from typing import Any

from aiohappyeyeballs import start_connection
from urllib3.util import wait_for_read

from .http_failure import TlsInTlsError, check_tunnel
from .request_target import Address, Route
from .response_reader import CutError, NotHttpError, ResponseReader


class AsyncConnection(asyncio.Protocol):
    """Sends one request at a time, and reads its response.

    Args:
        opened: All open connections of the event loop. It contains this one while it is open.

    """

    def __init__(self, opened: set[AsyncConnection]) -> None:
        self.transport: Any = None
        self.is_open = False
        self.used_at: float = 0
        """When its last response was read, by ``now_ms``."""
        self._opened = opened
        self._reader: ResponseReader | None = None
        self._response: asyncio.Future[None] | None = None

    async def request(self, data: bytes, reader: ResponseReader) -> None:
        """Send a request, and wait until its response was read.

        Raises:
            NotHttpError: If the server sent something else.
            CutError: If it closed the connection in the middle of the response.
            OSError: If the connection broke.

        """
        if not self.is_open:
            # asyncio would not call ``connection_lost`` again.
            raise CutError
        response = asyncio.get_running_loop().create_future()
        self._reader, self._response = reader, response
        try:
            self.transport.write(data)
            await response
        finally:
            self._reader = self._response = None

    async def start_tls(self, ssl_context: ssl.SSLContext, name: str) -> None:
        """Use TLS from now on.

        Args:
            ssl_context: The TLS settings.
            name: The name that the certificate must have.

        Raises:
            OSError: If there is no TLS.

        """
        loop = asyncio.get_running_loop()
        try:
            transport = await loop.start_tls(self.transport, self, ssl_context, server_hostname=name)
        except TypeError:
            # asyncio of Python 3.11 raises it too if a proxy that has TLS itself closes the connection.
            raise (TlsInTlsError if sys.version_info < (3, 11) else ConnectionResetError) from None
        if transport is None or not self.is_open:
            # The connection was closed during the handshake. asyncio does not report this.
            raise CutError
        self.transport = transport

    def is_unused(self, reader: ResponseReader) -> bool:
        """Check whether nothing of a request and of its response is left, so that the connection can be used for the next request."""
        return self.is_open and reader.is_complete and reader.is_reusable and not _has_unsent(self.transport)

    def is_idle(self) -> bool:
        """Check whether the connection is open, even if the event loop was too busy to notice its end."""
        return self.is_open and not wait_for_read(self.transport.get_extra_info("socket"), 0)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start. asyncio calls this method, and the following ones."""
        self.transport = transport
        self.is_open = True
        self._opened.add(self)

    def data_received(self, data: bytes) -> None:
        """Read a part of the response."""
        reader = self._reader
        if reader is None:
            # What a server sends on an idle connection would be read as the response to the next request.
            self.close()
            return
        try:
            reader.feed(data)
        except Exception as error:
            # asyncio would log any other exception with its frames, which contain the response.
            self._settle(error if isinstance(error, NotHttpError) else NotHttpError())
        else:
            if reader.is_complete:
                self._settle(None)

    def eof_received(self) -> None:
        """Read the end of the connection. asyncio closes it afterwards."""
        self.is_open = False
        self._end()

    def connection_lost(self, error: Exception | None) -> None:
        """Stop."""
        self.is_open = False
        self._opened.discard(self)
        if error is None:
            self._end()
        else:
            self._settle(error)

    def close(self) -> None:
        """Close the connection at once."""
        self.is_open = False
        self.transport.abort()

    def _end(self) -> None:
        if self._reader is not None:
            try:
                self._reader.end()
            except CutError as error:
                self._settle(error)
            else:
                self._settle(None)

    def _settle(self, error: Exception | None) -> None:
        response = self._response
        if response is None or response.done():
            return
        if error is None:
            response.set_result(None)
        else:
            response.set_exception(error)


async def open_connection(
    route: Route, ssl_context: ssl.SSLContext | None, opened: set[AsyncConnection]
) -> AsyncConnection:
    """Open a connection.

    Args:
        route: The server, and the proxy.
        ssl_context: The TLS settings, if TLS is used.
        opened: Where to add the connection.

    Raises:
        OSError: If there is no connection.
        ValueError: If the name of the host is not valid.

    """
    loop = asyncio.get_running_loop()
    server = route.connects_to
    connection = AsyncConnection(opened)
    sock = await _connect(server)
    try:
        await loop.create_connection(
            lambda: connection,
            sock=sock,
            ssl=ssl_context if server.is_tls else None,
            server_hostname=server.tls_name if server.is_tls else None,
        )
        if route.tunnel is not None and ssl_context is not None:
            reader = ResponseReader(0, has_body=False)
            await connection.request(route.tunnel, reader)
            check_tunnel(reader)
            await connection.start_tls(ssl_context, route.origin.tls_name)
    except BaseException:
        if connection.transport is None:
            sock.close()
        else:
            connection.close()
            # If the TLS handshake through a tunnel did not end, asyncio does not call ``connection_lost``.
            opened.discard(connection)
        raise
    return connection


def _has_unsent(transport: Any) -> bool:
    """Check whether a part of a request was not sent yet. A TLS transport does not count what waits in the one inside of it."""
    while transport is not None:
        if transport.get_write_buffer_size() > 0:
            return True
        transport = getattr(getattr(transport, "_ssl_protocol", None), "_transport", None)
    return False


async def _connect(server: Address) -> socket.socket:
    loop = asyncio.get_running_loop()
    try:
        # An IP address needs no thread.
        found = socket.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, ValueError):
        found = await loop.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM)
    try:
        # As in RFC 8305: after 250 ms, the next address is tried, while the others may still respond.
        sock = await start_connection(found, happy_eyeballs_delay=0.25, interleave=1, loop=loop)
    except OSError as error:
        # Without a number, the addresses failed for different reasons.
        raise OSError(error.errno or errno.EHOSTUNREACH, "") from None
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock
