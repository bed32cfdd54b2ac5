"""A connection of the synchronous provider."""

from __future__ import annotations

import errno
import selectors
import socket
import ssl

from urllib3.util import wait_for_read

from .open_socket import GoodAddresses, open_socket
from .request_target import Route
from .response_reader import CutError, ResponseReader
from .steps import now_ms
from .wire import Wire

_PIECE = 65_536


class Connection:
    """Sends one request at a time, and reads its response.

    Args:
        route: The server, and the proxy.
        ssl_context: The TLS settings, if TLS is used.
        good: The addresses that worked.

    """

    def __init__(self, route: Route, ssl_context: ssl.SSLContext | None, good: GoodAddresses) -> None:
        self._route = route
        self._ssl_context = ssl_context
        self._good = good
        self._wire = Wire()
        self._socket: socket.socket | None = None
        # The part of the request that was not sent yet, and what TLS has to send after it.
        self._unsent = bytearray()

    @property
    def is_open(self) -> bool:
        """Whether it was connected, and not closed here."""
        return self._socket is not None

    @property
    def is_idle(self) -> bool:
        """Whether it is open, also at the server, and nothing was received since the last response."""
        return self._socket is not None and not self._wire.is_ended and not wait_for_read(self._socket, 0)

    def connect(self, until: float) -> None:
        """Connect, with the tunnel and TLS.

        Args:
            until: When to stop, by ``now_ms``.

        Raises:
            OSError: If there is no connection.
            EOFError: If it was closed.
            ValueError: If the name of the host, or the response of the proxy is not valid.

        """
        sock = self._socket = open_socket(self._route.connects_to, self._good, until)
        data = b""
        steps = self._wire.set_up(self._route, self._ssl_context)
        try:
            to_send = next(steps)
            while True:
                _send(sock, to_send, until)
                data = _receive(sock, until)
                to_send = steps.send(data)
        except StopIteration:
            return

    def request(self, data: bytes, reader: ResponseReader, until: float) -> bool:
        """Send a request, and read its response. Return whether all of the request was sent.

        A server may respond before it has read the whole request, for example because it is too large, and read no further.

        Raises:
            NotHttpError: If the server sent something else.
            CutError: If it closed the connection in the middle of the response.
            OSError: If the connection broke.

        """
        sock = self._get_socket()
        unsent = self._unsent = bytearray(data if self._wire.is_plain else self._wire.encrypt(data))
        try:
            _limit(sock, until)
            del unsent[: sock.send(unsent)]
            if unsent:
                with selectors.DefaultSelector() as selector:
                    selector.register(sock, selectors.EVENT_READ | selectors.EVENT_WRITE)
                    while unsent and not reader.is_complete:
                        for _, events in selector.select(max(0, until - now_ms()) / 1_000):
                            if events & selectors.EVENT_READ:
                                self._receive_part(reader, until)
                            if events & selectors.EVENT_WRITE:
                                del unsent[: sock.send(unsent)]
                        _limit(sock, until)
        except (BrokenPipeError, ConnectionResetError):
            pass
        except OSError as error:
            # macOS reports it in this way too.
            if error.errno != errno.EPROTOTYPE:
                raise
        while not reader.is_complete:
            self._receive_part(reader, until)
        return not unsent

    def _receive_part(self, reader: ResponseReader, until: float) -> None:
        sock, wire = self._get_socket(), self._wire
        data = _receive(sock, until)
        is_ended = not data
        if not wire.is_plain:
            data = wire.decrypt(data)
            is_ended = is_ended or wire.is_ended
            answer = wire.encrypt()
            if self._unsent:
                self._unsent += answer
            else:
                _send(sock, answer, until)
        if data:
            reader.feed(data)
        if is_ended:
            reader.end()

    def close(self) -> None:
        """Close it. In a child process, this sends nothing, and the parent can still use its own copy."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _get_socket(self) -> socket.socket:
        if self._socket is None:
            raise CutError
        return self._socket


def _limit(sock: socket.socket, until: float) -> None:
    """Let the next operation take the time that is left. The timeout of a socket alone starts again with each one."""
    left = until - now_ms()
    if left <= 0:
        raise TimeoutError("timed out")
    sock.settimeout(left / 1_000)


def _send(sock: socket.socket, data: bytes, until: float) -> None:
    if data:
        _limit(sock, until)
        sock.sendall(data)


def _receive(sock: socket.socket, until: float) -> bytes:
    _limit(sock, until)
    return sock.recv(_PIECE)
