"""A WebSocket of the mock node."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from queue import SimpleQueue

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import Event, State
from websockets.server import ServerProtocol

from .mock_subscriptions import Subscriptions

_READ_BYTES = 65_536
_DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)


class MockSocket:
    """A WebSocket, with the protocol of websockets.

    A thread of its own writes: a program whose event loop does not read while it mines blocks must not wait for that loop.

    Args:
        http: The request that opens it.
        subscriptions: Its subscriptions.

    """

    def __init__(self, http: BaseHTTPRequestHandler, subscriptions: Subscriptions) -> None:
        self.subscriptions = subscriptions
        self._http = http
        self._protocol = ServerProtocol(max_size=None)
        self._lock = threading.Lock()
        # None is the end.
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="keyrail-mock-socket", daemon=True)
        self._writer.start()

    def read_messages(self) -> Iterator[bytes]:
        """Accept the connection and return its messages until it ends."""
        message = b""
        received = self._get_handshake()
        while received:
            for event in self._receive(received):
                if isinstance(event, Request):
                    with self._lock:
                        self._protocol.send_response(self._protocol.accept(event))
                        self._flush()
                elif isinstance(event, Frame) and event.opcode in _DATA:
                    message += event.data
                    if event.fin:
                        yield message
                        message = b""
            received = self._read()

    def send(self, text: str) -> None:
        """Send a message, unless the connection has ended."""
        with self._lock:
            if self._protocol.state is State.OPEN:
                self._protocol.send_text(text.encode())
                self._flush()

    def close(self, code: int, reason: str) -> None:
        """Send a close frame. The connection ends when the client responds to it."""
        with self._lock:
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(code, reason)
                self._flush()

    def abort(self) -> None:
        """End the connection without a close frame, as if the network broke."""
        with suppress(OSError):
            self._http.connection.shutdown(socket.SHUT_RDWR)

    def finish(self) -> None:
        """Write what is left."""
        self._outgoing.put(None)
        self._writer.join()

    def _get_handshake(self) -> bytes:
        headers = "".join(f"{name}: {value}\r\n" for name, value in self._http.headers.items())
        return f"{self._http.requestline}\r\n{headers}\r\n".encode("latin-1")

    def _read(self) -> bytes:
        with suppress(OSError):
            data: bytes = self._http.rfile.read1(_READ_BYTES)
            return data
        return b""

    def _receive(self, data: bytes) -> list[Event]:
        with self._lock:
            self._protocol.receive_data(data)
            events = self._protocol.events_received()
            self._flush()
        return events

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            self._outgoing.put(data)

    def _write(self) -> None:
        with suppress(OSError):
            while (data := self._outgoing.get()) is not None:
                if data:
                    self._http.connection.sendall(data)
                else:
                    # The protocol's sign for the end.
                    self._http.connection.shutdown(socket.SHUT_WR)
