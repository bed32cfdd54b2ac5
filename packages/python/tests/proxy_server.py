"""A proxy server: forwards plain requests, and opens tunnels."""

from __future__ import annotations

import base64
import contextlib
import socket
import ssl
from urllib.parse import urlsplit

from raw_server import RawServer, read_head


class ProxyServer(RawServer):
    """Forwards what it receives. ``received`` has the start of each request: its first line and headers."""

    def __init__(self, credentials: str | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.received: list[list[str]] = []
        self._authorization = f"Basic {base64.b64encode(credentials.encode()).decode()}" if credentials else None
        super().__init__(self._forward, tls)

    def _forward(self, sock: socket.socket, _number: int) -> None:
        head, _, body = read_head(sock).partition(b"\r\n\r\n")
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
