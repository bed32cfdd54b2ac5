"""A connection of the asynchronous provider."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from aiohappyeyeballs import start_connection
from urllib3.util import wait_for_read

from .open_socket import NEXT_ADDRESS_MS, AddressInfo, GoodAddresses, prepare
from .request_target import Address, Route
from .response_reader import CutError, NotHttpError, ResponseReader
from .wire import Wire

_PIECE = 65_536


class AsyncConnection:
    """Sends one request at a time, and reads its response.

    It uses the socket itself, and no transport of asyncio: a transport needs its loop to be closed, so it cannot be closed after a
    fork or after the loop, and a transport with TLS does not report whether everything was sent.

    Args:
        sock: A connected socket.
        opened: All open connections of the event loop. It contains this one while it is open.

    """

    def __init__(self, sock: socket.socket, opened: set[AsyncConnection]) -> None:
        self.is_open = True
        self.used_at: float = 0
        """When its last response was read, by ``now_ms``."""
        self._loop = asyncio.get_running_loop()
        self._process = os.getpid()
        self._socket = sock
        self._opened = opened
        self._wire = Wire()
        self._reader: ResponseReader | None = None
        # What was received while TLS and the tunnel are set up.
        self._received: bytearray | None = None
        # Completes when the response was read, or, while TLS and the tunnel are set up, when something was received.
        self._waiter: asyncio.Future[None] | None = None
        self._unsent = bytearray()
        # The default loop of Windows cannot watch sockets, so it sends and receives in tasks.
        self._tasks: set[asyncio.Task[None]] = set()
        opened.add(self)
        try:
            self._loop.add_reader(sock, self._receive_next)
        except NotImplementedError:
            self._run(self._receive_all())

    async def set_up(self, route: Route, ssl_context: ssl.SSLContext | None) -> None:
        """Open the tunnel, and use TLS from now on.

        Args:
            route: The server, and the proxy.
            ssl_context: The TLS settings, if TLS is used.

        Raises:
            OSError: If TLS fails, or if the proxy rejects the tunnel.
            CutError: If the connection was closed.
            NotHttpError: If the response of the proxy is not HTTP.

        """
        steps = self._wire.set_up(route, ssl_context)
        received = self._received = bytearray()
        try:
            to_send = next(steps)
            while True:
                await self._send_and_wait(to_send)
                data = bytes(received)
                received.clear()
                to_send = steps.send(data)
        except StopIteration:
            return
        finally:
            self._received = None

    async def request(self, data: bytes, reader: ResponseReader) -> None:
        """Send a request, and wait until its response was read.

        Raises:
            NotHttpError: If the server sent something else.
            CutError: If it closed the connection in the middle of the response.
            OSError: If the connection broke.

        """
        self._reader = reader
        try:
            await self._send_and_wait(data if self._wire.is_plain else self._wire.encrypt(data))
        finally:
            self._reader = None

    def is_unused(self, reader: ResponseReader) -> bool:
        """Check whether nothing of a request and of its response is left, so that the connection can be used for the next request."""
        return self.is_open and not self._unsent and reader.is_complete and reader.is_reusable

    def is_idle(self) -> bool:
        """Check whether the connection is open, even if the event loop was too busy to notice its end."""
        return self.is_open and not wait_for_read(self._socket, 0)

    def close(self, error: Exception | None = None) -> None:
        """Close the connection at once, even if the event loop is closed.

        In a child process, this closes the copy of the parent's connection, which stays open and usable.

        Args:
            error: Why. It is raised by the request in flight.

        """
        if not self.is_open:
            return
        self.is_open = False
        self._opened.discard(self)
        if os.getpid() != self._process:
            self._detach_from_parent()
        if self._loop.is_closed():
            self._tasks.clear()
        else:
            with suppress(NotImplementedError):
                self._loop.remove_reader(self._socket)
                self._loop.remove_writer(self._socket)
            for task in self._tasks:
                task.cancel()
            # Only when the loop runs, because nobody may wait any longer.
            self._loop.call_soon(self._complete, error or CutError())
        if not self._tasks:
            self._socket.close()

    def _detach_from_parent(self) -> None:
        """Let the descriptor refer to /dev/null.

        Otherwise the loop of the parent would no longer watch its own connection, because it shares its selector with the child. And if
        the descriptor were only closed, the next connection could get the same number, which the inherited loop still watches.
        """
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, self._socket.fileno(), inheritable=False)
        os.close(null)

    async def _send_and_wait(self, data: bytes) -> None:
        """Send data, and wait until the response was read, or until something was received."""
        if not self.is_open:
            raise CutError
        self._waiter = self._loop.create_future()
        try:
            self._send(data)
            await self._waiter
        finally:
            self._waiter = None

    def _run(self, steps: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(steps)
        self._tasks.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        # A descriptor that a task watches must not be closed, because another connection may get the same number.
        if not self.is_open and not self._tasks:
            self._socket.close()

    def _send(self, data: bytes) -> None:
        if not data:
            return
        sent = 0
        if not self._unsent:
            try:  # noqa: SIM105
                sent = self._socket.send(data)
            except OSError:
                # The server may have responded nevertheless, for example because the request is too large. The end of the connection is
                # noticed when the response is read.
                pass
            if sent == len(data):
                return
        is_sending = bool(self._unsent)
        self._unsent += memoryview(data)[sent:]
        if is_sending:
            return
        try:
            self._loop.add_writer(self._socket, self._send_next)
        except NotImplementedError:
            self._run(self._send_all())

    def _send_next(self) -> None:
        try:
            del self._unsent[: self._socket.send(self._unsent)]
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._loop.remove_writer(self._socket)
        else:
            if not self._unsent:
                self._loop.remove_writer(self._socket)

    async def _send_all(self) -> None:
        with suppress(OSError):
            while self._unsent:
                data = bytes(self._unsent)
                await self._loop.sock_sendall(self._socket, data)
                del self._unsent[: len(data)]

    def _receive_next(self) -> None:
        try:
            data = self._socket.recv(_PIECE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self.close(error)
        else:
            self._receive(data)

    async def _receive_all(self) -> None:
        try:
            while self.is_open:
                self._receive(await self._loop.sock_recv(self._socket, _PIECE))
        except OSError as error:
            self.close(error)

    def _receive(self, data: bytes) -> None:
        if not data:
            self._end()
            return
        if self._received is not None:
            self._received += data
            self._complete(None)
            return
        if self._wire.is_plain:
            self._read(data)
            return
        try:
            data = self._wire.decrypt(data)
            self._send(self._wire.encrypt())
        except OSError as error:
            self.close(error)
            return
        if data:
            self._read(data)
        if self._wire.is_ended:
            self._end()

    def _read(self, data: bytes) -> None:
        reader = self._reader
        if reader is None:
            # What a server sends on an idle connection would be read as the response to the next request.
            self.close()
            return
        try:
            reader.feed(data)
        except Exception as error:
            # asyncio would log any other exception with its frames, which contain the response.
            self._complete(error if isinstance(error, NotHttpError) else NotHttpError())
        else:
            if reader.is_complete:
                self._complete(None)

    def _end(self) -> None:
        try:
            if self._reader is not None:
                self._reader.end()
                self._complete(None)
        except CutError:
            pass
        self.close()

    def _complete(self, error: Exception | None) -> None:
        waiter = self._waiter
        if waiter is None or waiter.done():
            return
        if error is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(error)


async def open_connection(
    route: Route, ssl_context: ssl.SSLContext | None, good: GoodAddresses, opened: set[AsyncConnection]
) -> AsyncConnection:
    """Open a connection.

    Args:
        route: The server, and the proxy.
        ssl_context: The TLS settings, if TLS is used.
        good: The addresses that worked.
        opened: Where to add the connection.

    Raises:
        OSError: If there is no connection.
        EOFError: If it was closed.
        ValueError: If the name of the host, or the response of the proxy is not valid.

    """
    connection = AsyncConnection(await connect_socket(route.connects_to, good), opened)
    try:
        await connection.set_up(route, ssl_context)
    except BaseException:
        connection.close()
        raise
    return connection


async def connect_socket(server: Address, good: GoodAddresses) -> socket.socket:
    """Connect to the first address that responds.

    Args:
        server: The server.
        good: The addresses that worked.

    Raises:
        OSError: If no address can be reached.
        ValueError: If the name of the host is not valid.

    """
    loop = asyncio.get_running_loop()
    found: list[AddressInfo]
    try:
        # An IP address needs no thread.
        found = socket.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, ValueError):
        found = await loop.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM)
    try:
        # Alternates between IPv6 and IPv4, because one of them may not work at all.
        sock = await start_connection(
            good.sort(server, found), happy_eyeballs_delay=NEXT_ADDRESS_MS / 1_000, interleave=1, loop=loop
        )
    except OSError as error:
        # Without a number, the addresses failed for different reasons.
        raise OSError(error.errno or errno.EHOSTUNREACH, "") from None
    return prepare(sock, server, good)
