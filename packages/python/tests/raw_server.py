"""A server that a test scripts from the first byte of a connection."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Self

Serve = Callable[[socket.socket, int], None]


class RawServer:
    """Calls a function with each connection and its number. ``closed`` is set when the test ends."""

    def __init__(self, serve: Serve, tls: ssl.SSLContext | None = None) -> None:
        self.closed = threading.Event()
        self.connections = 0
        self._serve = serve
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._socks: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}" if self._tls else f"http://127.0.0.1:{self.port}"

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    def _start(self, run: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=run, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._socks.append(sock)
            self._start(self._run, sock, self.connections)

    def _run(self, sock: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError):
            if self._tls:
                sock = self._tls.wrap_socket(sock, server_side=True)
                self._socks.append(sock)
            self._serve(sock, number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close_connections(self) -> None:
        for sock in self._socks:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.closed.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.close_connections()
        for thread in self._threads:
            thread.join(5)
        for sock in self._socks:
            sock.close()


def read_head(sock: socket.socket) -> bytes:
    """Read until the end of the head, and return what was read."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = sock.recv(65_536)
        if not part:
            raise ConnectionResetError
        data += part
    return data
