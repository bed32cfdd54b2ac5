"""A server that can misbehave in every way that HTTP allows."""

from __future__ import annotations

import contextlib
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

from typing_extensions import Self


@dataclass
class Seen:
    """One request that arrived."""

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


class Wire:
    """The connection of a request, to answer on as one likes."""

    def __init__(self, sock: socket.socket, over: threading.Event) -> None:
        self.sock = sock
        self._over = over

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def head(self, status: int, headers: dict[str, str], length: int | None) -> None:
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase if status in set(HTTPStatus) else 'Other'}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if length is not None:
            lines.append(f"content-length: {length}")
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    def answer(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.head(status, {"content-type": "application/json"} if headers is None else headers, len(data))
        self.send(data)

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # By its number: the stream that reads from it would keep it open.
        os.close(self.sock.detach())
        raise OSError("reset")

    def hang(self) -> None:
        """Wait until the other side goes, or the server is closed."""
        self.sock.settimeout(0.05)
        while not self._over.is_set():
            try:
                if not self.sock.recv(1):
                    return
            except TimeoutError:
                continue
            except OSError:
                return

    def drip(self, piece: bytes = b" ") -> None:
        try:
            while not self._over.wait(0.05):
                self.send(piece)
        except OSError:
            return


Script = Callable[[Seen, Wire], None]


def true_answer(seen: Seen, wire: Wire) -> None:
    answers = [{"jsonrpc": "2.0", "id": call["id"], "result": "0x1"} for call in seen.calls]
    wire.answer(200, answers if isinstance(seen.json, list) else answers[0])


class FaultServer:
    """Answers each request as its script says; ``seen`` holds what arrived."""

    def __init__(self, script: Script = true_answer, tls: ssl.SSLContext | None = None) -> None:
        self.script = script
        self._tls = tls
        self.seen: list[Seen] = []
        self.first = threading.Event()
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._socks: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _start(self, run: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=run, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        count = 0
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socks.append(sock)
            count += 1
            self._start(self._serve, sock, count)

    def _serve(self, sock: socket.socket, connection: int) -> None:
        if self._tls:
            try:
                sock = self._tls.wrap_socket(sock, server_side=True)
            except OSError:
                sock.close()
                return
            self._socks.append(sock)
        stream = sock.makefile("rb")
        try:
            while (line := stream.readline()) and not self._over.is_set():
                headers: dict[str, str] = {}
                while (header := stream.readline().strip()) != b"":
                    name, _, value = header.decode("latin-1").partition(":")
                    headers[name.lower()] = value.strip()
                body = stream.read(int(headers.get("content-length", "0")))
                seen = Seen(line.split()[1].decode(), headers, json.loads(body), connection)
                self.seen.append(seen)
                self.first.set()
                self.script(seen, Wire(sock, self._over))
        except (OSError, ValueError):
            pass
        finally:
            stream.close()
            sock.close()

    @property
    def methods(self) -> list[str]:
        return [method for seen in self.seen for method in seen.methods]

    def close(self) -> None:
        self._over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._socks:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
