"""Bytes over HTTP by urllib3, with connections that are kept.

urllib3 never learns the address: it is given ``/`` as the target, and the connection itself writes the true one into the
request. So what urllib3 logs, raises and keeps holds no key.
"""

from __future__ import annotations

import http.client
import io
import os
import queue
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakSet

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import EmptyPoolError, HTTPError
from urllib3.exceptions import TimeoutError as PoolTimeoutError

from ..address.open_address import OpenAddress
from ..failure.facts import Facts
from ..message.answer import Answer
from .options import Plan
from .post import BROKEN, CUT, GZIP, TOO_LARGE, target_of, text_of, words_of
from .steps import now_ms

_CHUNK = 65_536
# Retries are ours.
_NO_RETRY = urllib3.Retry(False, redirect=0)


class _UntilIO(io.RawIOBase):
    """Reads from a socket until a moment, however the bytes trickle in. By itself a socket's timeout starts anew with each byte."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket) -> None:
        self._raw = raw
        self._sock = sock
        self._ends = time.monotonic() + (sock.gettimeout() or 0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _UntilResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        raw: Any = self.fp
        self.fp = io.BufferedReader(_UntilIO(raw.detach(), sock))


class _Wire(threading.local):
    """What the connection of this thread has to write, and what it tells."""

    target = "/"
    authorization = ""
    connected = False
    reused = False


def create_pool_client(plan: Plan) -> tuple[Callable[..., Answer | Facts], Callable[[], None], Callable[[], None]]:
    """Make three functions: one posts a body, one closes all connections, and one starts over in a child process after a fork.

    Args:
        plan: How large an answer may be, and how many requests may be under way.

    """
    wire = _Wire()
    pools: dict[str, urllib3.HTTPConnectionPool] = {}
    lock = threading.Lock()
    # All that are open, in use or not.
    sockets: WeakSet[socket.socket] = WeakSet()

    class Keyed:
        """Put before a connection of urllib3: writes what urllib3 must not know."""

        response_class: Any = _UntilResponse
        # Printing what is sent would print the key.
        debuglevel = 0
        used = False
        """Whether this very connection has carried a request."""

        def set_debuglevel(self, level: int) -> None:
            pass

        def connect(self) -> None:
            super().connect()  # type: ignore[misc]
            self.used = False
            wire.connected = True
            sockets.add(self.sock)  # type: ignore[attr-defined]

        def putrequest(self, method: str, url: str, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002
            if self.sock is not None and self.used:  # type: ignore[attr-defined]
                wire.connected = wire.reused = True
            super().putrequest(method, wire.target, *args, **kwargs)  # type: ignore[misc]
            if wire.authorization:
                self.putheader("authorization", wire.authorization)  # type: ignore[attr-defined]

        def getresponse(self) -> Any:
            self.used = True
            return super().getresponse()  # type: ignore[misc]

    class Plain(Keyed, HTTPConnection):
        pass

    class Secure(Keyed, HTTPSConnection):
        pass

    class PlainPool(urllib3.HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(urllib3.HTTPSConnectionPool):
        ConnectionCls = Secure

    headers = {"content-type": "application/json", "accept-encoding": GZIP, "user-agent": "keyrail-python"}

    def pool_of(origin: str) -> urllib3.HTTPConnectionPool:
        pool = pools.get(origin)
        if pool is None:
            with lock:
                to = urllib3.util.parse_url(origin)
                kind = SecurePool if to.scheme == "https" else PlainPool
                pool = pools.setdefault(origin, kind(to.host or "", to.port, maxsize=plan.max_in_flight, block=True))
        return pool

    def once(pool: urllib3.HTTPConnectionPool, body: bytes, until: float) -> tuple[Answer | Facts, bool]:
        """Give the answer, and whether the connection was dead before the request reached anyone."""
        left = (until - now_ms()) / 1_000
        if left <= 0:
            return Facts(kind="timeout", text="", unsent=True), False
        wire.connected = wire.reused = False
        response = None
        begun = False
        try:
            response = pool.urlopen(
                "POST",
                "/",
                body=body,
                headers=headers,
                retries=_NO_RETRY,
                redirect=False,
                assert_same_host=False,
                timeout=urllib3.Timeout(total=left),
                pool_timeout=left,  # type: ignore[arg-type]
                preload_content=False,
            )
            begun = True
            encoding = response.headers.get("content-encoding", "").lower()
            if encoding not in ("", "identity", GZIP):
                text = "the answer is encoded in a way that was not asked for"
                return Facts(kind="badResponse", text=text), False
            length = response.headers.get("content-length", "")
            if not encoding and length.isascii() and length.isdigit() and int(length) <= plan.max_response_bytes:
                data = response.read()
            else:
                parts: list[bytes] = []
                total = 0
                for part in response.stream(_CHUNK):
                    total += len(part)
                    if total > plan.max_response_bytes:
                        return Facts(kind="badResponse", text=TOO_LARGE, final=True), False
                    parts.append(part)
                data = b"".join(parts)
            return Answer(response.status, text_of(data), response.headers), False
        except EmptyPoolError:
            return Facts(kind="timeout", text="", unsent=True), False
        except (HTTPError, OSError, http.client.HTTPException, ValueError) as error:
            if isinstance(error, (PoolTimeoutError, TimeoutError)) and now_ms() >= until - 5:
                return Facts(kind="timeout", text="", unsent=not wire.connected), False
            if not begun and isinstance(error, ValueError) and not isinstance(error, (OSError, HTTPError)):
                return Facts(kind="invalidRequest", text="the address cannot be asked"), False
            text = CUT if begun else words_of(error) if not wire.connected else BROKEN
            return Facts(kind="network", text=text, unsent=not wire.connected), not begun and wire.reused
        finally:
            if response is not None:
                # Where all was read it went back to the pool already, and stays open.
                if begun and not response.closed:
                    response.close()
                response.release_conn()

    def post(address: OpenAddress, body: bytes, again: bool, until: float) -> Answer | Facts:
        origin, target = target_of(address.url)
        wire.target, wire.authorization = target, address.authorization
        try:
            try:
                pool = pool_of(origin)
            except (HTTPError, ValueError):
                return Facts(kind="invalidRequest", text="the address cannot be asked")
            read, stale = once(pool, body, until)
            if stale and again:
                # The server had closed the idle connection before this call reached it: nobody has seen the call.
                read, _ = once(pool, body, until)
            return read
        finally:
            wire.target, wire.authorization = "/", ""

    def close() -> None:
        with lock:
            for pool in pools.values():
                pool.close()
            pools.clear()

    def after_fork() -> None:
        nonlocal lock, sockets
        # Threads of the parent may have held the locks and the places of the pools. None of those threads is in this process.
        lock = threading.Lock()
        for pool in pools.values():
            if pool.pool is not None:
                # urllib3 empties the queue when the pool is collected, and would wait for its lock.
                queue.LifoQueue.__init__(pool.pool)
        pools.clear()
        for sock in list(sockets):
            # The parent still uses the connection: this closes only the copy of this process, and sends nothing.
            number = sock.detach()
            if number >= 0:
                with suppress(OSError):
                    os.close(number)
        sockets = WeakSet()

    return post, close, after_fork
