"""A server that can misbehave in any way that HTTP allows."""

from __future__ import annotations

import json
import os
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from raw_server import RawServer


@dataclass
class ReceivedRequest:
    """A request that the server received."""

    path: str
    headers: dict[str, str]
    json: Any
    connection: int
    at: float = field(default_factory=time.monotonic)

    @property
    def calls(self) -> list[dict[str, Any]]:
        return self.json if isinstance(self.json, list) else [self.json]

    @property
    def methods(self) -> list[str]:
        return [call["method"] for call in self.calls]


class Connection:
    """The connection of a request, with functions to respond or misbehave."""

    def __init__(self, sock: socket.socket, closed: threading.Event) -> None:
        self.sock = sock
        self._closed = closed

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def head(self, status: int, headers: dict[str, str], length: int | None) -> None:
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase if status in set(HTTPStatus) else 'Other'}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if length is not None:
            lines.append(f"content-length: {length}")
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    def respond(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.head(status, {"content-type": "application/json"} if headers is None else headers, len(data))
        self.send(data)

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # Closed by its descriptor, because the stream that reads from it would hold it open.
        os.close(self.sock.detach())
        raise OSError("reset")

    def hang(self) -> None:
        """Wait until the client disconnects or the server is closed."""
        self.sock.settimeout(0.05)
        while not self._closed.is_set():
            try:
                if not self.sock.recv(1):
                    return
            except TimeoutError:
                continue
            except OSError:
                return

    def drip(self, chunk: bytes = b" ") -> None:
        try:
            while not self._closed.wait(0.05):
                self.send(chunk)
        except OSError:
            return


Script = Callable[[ReceivedRequest, Connection], None]


def respond_with_one(request: ReceivedRequest, connection: Connection) -> None:
    responses = [{"jsonrpc": "2.0", "id": call["id"], "result": "0x1"} for call in request.calls]
    connection.respond(200, responses if isinstance(request.json, list) else responses[0])


class FaultServer(RawServer):
    """Responds to each request as its script does. ``requests`` has the received requests."""

    def __init__(self, script: Script = respond_with_one, tls: ssl.SSLContext | None = None) -> None:
        self.script = script
        self.requests: list[ReceivedRequest] = []
        self.first = threading.Event()
        super().__init__(self._respond, tls)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _respond(self, sock: socket.socket, connection: int) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = sock.makefile("rb")
        try:
            while (line := stream.readline()) and not self.closed.is_set():
                headers: dict[str, str] = {}
                while (header := stream.readline().strip()) != b"":
                    name, _, value = header.decode("latin-1").partition(":")
                    headers[name.lower()] = value.strip()
                body = stream.read(int(headers.get("content-length", "0")))
                request = ReceivedRequest(line.split()[1].decode(), headers, json.loads(body), connection)
                self.requests.append(request)
                self.first.set()
                self.script(request, Connection(sock, self.closed))
        except (OSError, ValueError):
            pass
        finally:
            stream.close()
            sock.close()

    @property
    def methods(self) -> list[str]:
        return [method for request in self.requests for method in request.methods]
