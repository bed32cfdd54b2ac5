"""A proxy server: forwards plain requests, and opens tunnels."""

from __future__ import annotations

import base64
import contextlib
import socket
import ssl
import threading
from urllib.parse import urlsplit

from typing_extensions import Self


class ProxyServer:
    """Forwards what it receives. ``received`` has the start of each request: its first line and headers."""

    def __init__(self, credentials: str | None = None, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.received: list[list[str]] = []
        self._authorization = f"Basic {base64.b64encode(credentials.encode()).decode()}" if credentials else None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._socks: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}" if self._tls else f"http://127.0.0.1:{self.port}"

    def _start(self, run: object, *args: object) -> None:
        thread = threading.Thread(target=run, args=args, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self._socks.append(sock)
            self._start(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        if self._tls:
            try:
                sock = self._tls.wrap_socket(sock, server_side=True)
            except OSError:
                return
            self._socks.append(sock)
        data = b""
        while b"\r\n\r\n" not in data:
            part = sock.recv(65_536)
            if not part:
                return
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.received.append(lines)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        if self._authorization and headers.get("proxy-authorization") != self._authorization:
            sock.sendall(
                b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
            sock.close()
            return
        method, target, version = lines[0].split()
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            upstream = socket.create_connection((host, int(port)))
            sock.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            parts = urlsplit(target)
            upstream = socket.create_connection((parts.hostname or "", parts.port or 80))
            forwarded = [f"{method} {parts.path} {version}", *lines[1:]]
            upstream.sendall("\r\n".join(forwarded).encode("latin-1") + b"\r\n\r\n" + body)
        self._socks.append(upstream)
        self._start(self._pump, sock, upstream)
        self._pump(upstream, sock)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
        for sock in (source, target):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._socks:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for sock in self._socks:
            sock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
