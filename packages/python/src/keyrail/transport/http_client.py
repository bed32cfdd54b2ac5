"""The HTTP client of the synchronous provider, based on urllib3, with persistent connections.

urllib3 never gets the full URL: it gets ``/`` as the target, and our connection class writes the true target into the request. So
nothing that urllib3 logs, raises or stores contains the key.
"""

from __future__ import annotations

import http.client
import io
import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote
from weakref import WeakSet

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import EmptyPoolError, HTTPError
from urllib3.exceptions import TimeoutError as PoolTimeoutError
from urllib3.util import SKIP_HEADER

from ..endpoint.create_endpoint import ResolvedEndpoint
from ..failure.facts import Facts
from ..message.response import HttpResponse
from .call_settings import CallSettings
from .connection_settings import ConnectionSettings
from .http_request import (
    BROKEN,
    CUT,
    GZIP,
    INVALID_URL,
    USER_AGENT,
    decode_body,
    describe_encoding,
    describe_error,
    describe_size_limit,
    describe_ssl_problem,
    split_url,
)
from .steps import now_ms

_CHUNK = 65_536
# Keyrail retries, not urllib3.
_NO_RETRY = urllib3.Retry(False, redirect=0)


class _UntilIO(io.RawIOBase):
    """Reads from a socket until a deadline. The timeout of a socket alone would start again with each byte."""

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
    """What the connection of this thread writes, and what it reports."""

    target = "/"
    headers: Mapping[str, str] = {}
    connected = False
    reused = False


def create_http_client(
    settings: CallSettings, connections: ConnectionSettings
) -> tuple[Callable[..., HttpResponse | Facts], Callable[[], None], Callable[[], None]]:
    """Create three functions: to post a body, to close all connections, and to start over in a child process after a fork.

    Args:
        settings: The maximum size of responses and the maximum number of requests in flight.
        connections: The proxy and the TLS settings.

    """
    wire = _Wire()
    credentials = urllib3.util.parse_url(connections.proxy).auth if connections.proxy else None
    proxy_headers = urllib3.util.make_headers(proxy_basic_auth=unquote(credentials)) if credentials else {}
    pools: dict[str, urllib3.HTTPConnectionPool] = {}
    lock = threading.Lock()
    # All open sockets, in use or idle.
    sockets: WeakSet[socket.socket] = WeakSet()

    class WithSecrets:
        """A mixin for connections of urllib3: writes the target and the headers, which urllib3 must not know."""

        response_class: Any = _UntilResponse
        # Debug output would contain the key.
        debuglevel = 0
        used = False
        """Whether this connection has sent a request before."""

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
            for name, value in wire.headers.items():
                self.putheader(name, value)  # type: ignore[attr-defined]

        def getresponse(self) -> Any:
            self.used = True
            return super().getresponse()  # type: ignore[misc]

    class Plain(WithSecrets, HTTPConnection):
        pass

    class Secure(WithSecrets, HTTPSConnection):
        pass

    class PlainPool(urllib3.HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(urllib3.HTTPSConnectionPool):
        ConnectionCls = Secure

    # The other headers are secrets, or replace the user agent.
    headers = {"accept-encoding": GZIP, "user-agent": SKIP_HEADER}

    def create_pool(origin: str) -> urllib3.HTTPConnectionPool:
        common: dict[str, Any] = {"maxsize": settings.max_in_flight, "block": True}
        proxy = connections.proxy
        # A proxy gets plain requests itself, and opens a tunnel for TLS.
        parsed = urllib3.util.parse_url(origin if proxy is None or origin.lower().startswith("https") else proxy)
        if parsed.scheme != "https":
            return PlainPool(parsed.host or "", parsed.port, **common)
        common["ssl_context"] = connections.get_ssl_context()
        if proxy is None or not origin.lower().startswith("https"):
            return SecurePool(parsed.host or "", parsed.port, **common)
        manager = urllib3.ProxyManager(
            proxy, proxy_headers=proxy_headers, proxy_ssl_context=common["ssl_context"], **common
        )
        manager.pool_classes_by_scheme = {"https": SecurePool}
        return manager.connection_from_url(origin)

    def get_pool(origin: str) -> urllib3.HTTPConnectionPool:
        pool = pools.get(origin)
        if pool is None:
            with lock:
                pool = pools.get(origin) or pools.setdefault(origin, create_pool(origin))
        return pool

    def once(pool: urllib3.HTTPConnectionPool, body: bytes, until: float) -> tuple[HttpResponse | Facts, bool]:
        """Return the response, and whether the connection was closed before the server received the request."""
        left = (until - now_ms()) / 1_000
        if left <= 0:
            return Facts(kind="timeout", text="", unsent=True), False
        wire.connected = wire.reused = False
        response = None
        responded = False
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
            responded = True
            encoding = response.headers.get("content-encoding", "").lower()
            if encoding not in ("", "identity", GZIP):
                return Facts(kind="badResponse", text=describe_encoding(encoding)), False
            length = response.headers.get("content-length", "")
            if not encoding and length.isascii() and length.isdigit() and int(length) <= settings.max_response_bytes:
                data = response.read()
            else:
                parts: list[bytes] = []
                total = 0
                for part in response.stream(_CHUNK):
                    total += len(part)
                    if total > settings.max_response_bytes:
                        return Facts(
                            kind="badResponse", text=describe_size_limit(settings.max_response_bytes), final=True
                        ), False
                    parts.append(part)
                data = b"".join(parts)
            return HttpResponse(response.status, decode_body(data), response.headers), False
        except EmptyPoolError:
            return Facts(kind="timeout", text="", unsent=True), False
        except (HTTPError, OSError, http.client.HTTPException, ValueError) as error:
            if isinstance(error, (PoolTimeoutError, TimeoutError)) and now_ms() >= until - 5:
                return Facts(kind="timeout", text="", unsent=not wire.connected), False
            if not responded and isinstance(error, ValueError) and not isinstance(error, (OSError, HTTPError)):
                return Facts(kind="invalidRequest", text=INVALID_URL), False
            text = CUT if responded else describe_error(error) if not wire.connected else BROKEN
            return Facts(kind="network", text=text, unsent=not wire.connected), not responded and wire.reused
        finally:
            if response is not None:
                # After a complete response, the connection is back in the pool and stays open.
                if responded and not response.closed:
                    response.close()
                response.release_conn()

    def post(endpoint: ResolvedEndpoint, body: bytes, may_repeat: bool, until: float) -> HttpResponse | Facts:
        origin, target = split_url(endpoint.url)
        wire.target, wire.headers = target, {"user-agent": USER_AGENT, **endpoint.headers}
        if connections.proxy is not None and not origin.lower().startswith("https"):
            wire.target, wire.headers = origin + target, {**wire.headers, **proxy_headers}
        try:
            try:
                pool = get_pool(origin)
            except OSError as error:
                return Facts(kind="invalidRequest", text=describe_ssl_problem(error))
            except (HTTPError, ValueError):
                return Facts(kind="invalidRequest", text=INVALID_URL)
            response, stale = once(pool, body, until)
            if stale and may_repeat:
                # The server closed the idle connection before it received this request.
                response, _ = once(pool, body, until)
            return response
        finally:
            wire.target, wire.headers = "/", {}

    def close() -> None:
        with lock:
            for pool in pools.values():
                pool.close()
            pools.clear()

    def after_fork() -> None:
        nonlocal lock, sockets
        # Threads of the parent may hold the locks and the slots of the pools. Those threads do not exist in this process.
        lock = threading.Lock()
        for pool in pools.values():
            if pool.pool is not None:
                # urllib3 empties the queue when the pool is garbage-collected, and would wait for its lock.
                queue.LifoQueue.__init__(pool.pool)
        pools.clear()
        for sock in list(sockets):
            # This closes only the copy of this process and sends nothing. The parent still uses the connection.
            number = sock.detach()
            if number >= 0:
                with suppress(OSError):
                    os.close(number)
        sockets = WeakSet()

    return post, close, after_fork
