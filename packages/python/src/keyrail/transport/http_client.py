"""The HTTP client of the synchronous provider, with persistent connections.

urllib3 opens the connections: it knows proxies and TLS. It never gets the URL, so nothing that it logs, raises or stores contains the
key. Requests are written here, because they are all alike. Python's ``http.client`` reads the responses.
"""

from __future__ import annotations

import errno
import http.client
import io
import os
import socket
import ssl
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote
from weakref import WeakSet

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection, ProxyConfig
from urllib3.exceptions import HTTPError

from ..endpoint.create_endpoint import ResolvedEndpoint
from ..failure.facts import Facts
from ..message.response import HttpResponse
from .call_settings import CallSettings
from .connection_pool import ConnectionPool
from .connection_settings import ConnectionSettings
from .http_request import (
    BROKEN,
    CUT,
    GZIP,
    INVALID_URL,
    NOT_GZIP,
    NOT_HTTP,
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
# As the ``wbits`` of zlib.
_GZIP_FORMAT = 31
_UNSENT_TIMEOUT = Facts(kind="timeout", text="", unsent=True)


def _limit(sock: Any, until: float) -> None:
    """Let the next operation of a socket take the time that is left. The timeout of a socket alone starts again with each one."""
    left = until - now_ms()
    if left <= 0:
        raise TimeoutError("timed out")
    sock.settimeout(left / 1_000)


class _UntilIO(io.RawIOBase):
    """Reads from a socket until a deadline, by ``now_ms``."""

    def __init__(self, sock: Any, until: float) -> None:
        self._sock = sock
        self._until = until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        _limit(self._sock, self._until)
        count: int = self._sock.recv_into(buffer)
        return count

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Return a buffered reader. ``http.client`` calls this method of what it takes for a socket."""
        return io.BufferedReader(self)


class _UntilResponse(http.client.HTTPResponse):
    def __init__(self, sock: Any, until: float, **kwargs: Any) -> None:
        super().__init__(_UntilIO(sock, until), **kwargs)  # type: ignore[arg-type]

    def _read_status(self) -> tuple[str, int, str]:
        # http.client takes an interim response such as 103 for the response, unless it is 100. RFC 9110 section 15.2.
        found: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
        while 101 < found[1] < 200:
            http.client.parse_headers(self.fp)
            found = super()._read_status()  # type: ignore[misc]
        return found


class _Plain(HTTPConnection):
    """Connects until a deadline. The timeout of urllib3 starts again with each address, and with each step after the connection."""

    until: float = 0
    """By ``now_ms``."""

    def response_class(self, sock: Any, method: str) -> _UntilResponse:  # type: ignore[override]
        """Create the response to CONNECT."""
        return _UntilResponse(sock, self.until, method=method)

    def _new_conn(self) -> socket.socket:
        found = socket.getaddrinfo(self._dns_host, self.port, 0, socket.SOCK_STREAM)
        problem = OSError()
        for at, (family, kind, protocol, _, address) in enumerate(found):
            sock = socket.socket(family, kind, protocol)
            try:
                # An address that does not respond leaves time for the others.
                now = now_ms()
                _limit(sock, now + (self.until - now) / (len(found) - at))
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.connect(address)
                _limit(sock, self.until)
                return sock
            except OSError as error:
                sock.close()
                problem = error
        raise problem

    def _tunnel(self) -> None:
        super()._tunnel()
        _limit(self.sock, self.until)


class _Secure(_Plain, HTTPSConnection):
    pass


@dataclass(slots=True, frozen=True)
class _Target:
    """Where the requests of an endpoint are sent, and how they start."""

    endpoint: ResolvedEndpoint
    pool: ConnectionPool
    head: bytes = field(repr=False)
    """The request line and the headers, except for the number after ``content-length:``."""


def create_http_client(
    settings: CallSettings, connections: ConnectionSettings
) -> tuple[Callable[..., HttpResponse | Facts], Callable[[], None], Callable[[], None]]:
    """Create three functions: to post a body, to close all connections, and to start over in a child process after a fork.

    Args:
        settings: The maximum size of responses and the maximum number of requests in flight.
        connections: The proxy and the TLS settings.

    """
    proxy = urllib3.util.parse_url(connections.proxy) if connections.proxy else None
    proxy_headers = (
        urllib3.util.make_headers(proxy_basic_auth=unquote(proxy.auth)) if proxy is not None and proxy.auth else {}
    )
    pools: dict[str, ConnectionPool] = {}
    lock = threading.Lock()
    # All open sockets, in use or idle.
    sockets: WeakSet[Any] = WeakSet()
    # The target of the last request. It changes only with the key or the headers of the endpoint.
    last: _Target | None = None

    def create_pool(origin: urllib3.util.Url) -> ConnectionPool:
        # A proxy gets plain requests itself, and opens a tunnel for TLS.
        tunnels = proxy is not None and origin.scheme == "https"
        server = origin if proxy is None else proxy
        # urllib3 adds the brackets of an IPv6 address where they belong.
        host, port = (server.host or "").strip("[]"), server.port
        ssl_context = None
        if tunnels or server.scheme == "https":
            ssl_context = connections.get_ssl_context()

        def create_connection() -> HTTPConnection:
            if not tunnels:
                return _Plain(host, port) if ssl_context is None else _Secure(host, port, ssl_context=ssl_context)
            connection = _Secure(
                host,
                port or urllib3.connection.port_by_scheme[server.scheme or "http"],
                ssl_context=ssl_context,
                proxy=proxy,
                proxy_config=ProxyConfig(ssl_context, False, None, None),
            )
            connection.set_tunnel(origin.host or "", origin.port, proxy_headers, server.scheme or "http")
            return connection

        return ConnectionPool(create_connection, settings.max_in_flight)

    def get_target(endpoint: ResolvedEndpoint) -> _Target:
        nonlocal last
        target = last
        if target is not None and target.endpoint is endpoint:
            return target
        name, path = split_url(endpoint.url)
        origin = urllib3.util.parse_url(name)
        headers = {"accept-encoding": GZIP, "user-agent": USER_AGENT, **endpoint.headers}
        if proxy is not None and origin.scheme == "http":
            # The host in ASCII, which ``name`` may not be.
            path = origin.url + path
            headers.update(proxy_headers)
        head = _write_head(origin, path, headers)
        with lock:
            pool = pools.get(name) or pools.setdefault(name, create_pool(origin))
            last = _Target(endpoint, pool, head)
            return last

    def once(target: _Target, body: bytes, until: float) -> tuple[HttpResponse | Facts, bool]:
        """Return the response, and whether the connection was closed before the server received the request."""
        connection: Any = target.pool.take(max(0, until - now_ms()) / 1_000)
        if connection is None:
            return _UNSENT_TIMEOUT, False
        reused = connected = connection.sock is not None
        responded = reusable = False
        try:
            if now_ms() >= until:
                reusable = reused
                return _UNSENT_TIMEOUT, False
            if not connected:
                connection.until = until
                connection.connect()
                connected = True
                sockets.add(connection.sock)
            sent = _send(connection.sock, b"%b %d\r\n\r\n%b" % (target.head, len(body), body), until)
            response = _UntilResponse(connection.sock, until, method="POST")
            response.begin()
            responded = True
            data = _read_body(response, settings.max_response_bytes, until)
            # It closes itself after a complete response. The connection stays open.
            reusable = sent and response.isclosed() and not response.will_close
            response.close()
            if isinstance(data, Facts):
                return data, False
            headers: Any = response.headers
            return HttpResponse(response.status, decode_body(data), headers), False
        except (HTTPError, OSError, http.client.HTTPException, ValueError, zlib.error) as error:
            if isinstance(error, TimeoutError) and now_ms() >= until - 5:
                return Facts(kind="timeout", text="", unsent=not connected), False
            if isinstance(error, zlib.error):
                return Facts(kind="badResponse", text=NOT_GZIP), False
            if not responded and isinstance(error, ValueError) and not isinstance(error, OSError):
                return Facts(kind="invalidRequest", text=INVALID_URL), False
            is_disconnect = isinstance(error, (OSError, http.client.RemoteDisconnected))
            text = CUT if responded else BROKEN if is_disconnect else NOT_HTTP
            text = text if connected else describe_error(error)
            return Facts(kind="network", text=text, unsent=not connected), not responded and reused
        finally:
            target.pool.give_back(connection, reusable)

    def post(endpoint: ResolvedEndpoint, body: bytes, may_repeat: bool, until: float) -> HttpResponse | Facts:
        try:
            target = get_target(endpoint)
        except OSError as error:
            return Facts(kind="invalidRequest", text=describe_ssl_problem(error))
        except (HTTPError, ValueError):
            return Facts(kind="invalidRequest", text=INVALID_URL)
        response, stale = once(target, body, until)
        if stale and may_repeat:
            # The server closed the idle connection before it received this request.
            response, _ = once(target, body, until)
        return response

    def close() -> None:
        nonlocal last
        with lock:
            last = None
            for pool in pools.values():
                pool.close()
            pools.clear()

    def after_fork() -> None:
        nonlocal last, lock, sockets
        # Threads of the parent may hold the locks and connections of the pools. Those threads do not exist in this process.
        last = None
        lock = threading.Lock()
        pools.clear()
        for sock in list(sockets):
            # This closes only the copy of this process and sends nothing. The parent still uses the connection.
            # With TLS inside of TLS, the socket is inside the object that urllib3 uses.
            number = getattr(sock, "socket", sock).detach()
            if number >= 0:
                with suppress(OSError):
                    os.close(number)
        sockets = WeakSet()

    return post, close, after_fork


def _write_head(origin: urllib3.util.Url, path: str, headers: dict[str, str]) -> bytes:
    """Write the request line and the headers, up to the number after ``content-length:``."""
    host = (origin.host or "").rstrip(".")
    if origin.port not in (None, urllib3.connection.port_by_scheme[origin.scheme or "http"]):
        host += f":{origin.port}"
    # None of them contains a line break: headers were checked, and the path is quoted.
    lines = [f"POST {path} HTTP/1.1", f"host: {host}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "content-length:"]).encode("latin-1")


def _send(sock: Any, request: bytes, until: float) -> bool:
    """Send a request, and return whether all of it was sent.

    A server may respond and close the connection before it has read the whole request, for example because it is too large.
    """
    rest = memoryview(request)
    try:
        while rest:
            # For each part, because ``sendall`` of a TLS socket starts the time again with each part.
            _limit(sock, until)
            rest = rest[sock.send(rest) :]
    except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
        return False
    except OSError as error:
        # macOS reports it in this way too.
        if error.errno != errno.EPROTOTYPE:
            raise
        return False
    return True


def _read_body(response: http.client.HTTPResponse, max_bytes: int, until: float) -> bytes | Facts:
    """Read the whole body, or describe why it cannot be used."""
    encoding = (response.getheader("content-encoding") or "").lower()
    if encoding not in ("", "identity", GZIP):
        return Facts(kind="badResponse", text=describe_encoding(encoding))
    data = b""
    # The length is known unless the body is chunked or ends with the connection.
    too_long = response.length is not None and response.length > max_bytes
    if not too_long:
        # Only with a known length, ``read()`` detects that the body was cut.
        data = response.read() if response.length is not None else response.read(max_bytes + 1)
        if encoding == GZIP:
            data = _decompress(data, max_bytes, until)
    if too_long or len(data) > max_bytes:
        return Facts(kind="badResponse", text=describe_size_limit(max_bytes), final=True)
    return data


def _decompress(data: bytes, max_bytes: int, until: float) -> bytes:
    """Decompress a body, and stop when it is larger than a number of bytes. Raises ``zlib.error`` if it is damaged."""
    parts: list[bytes] = []
    total = 0
    decompressor = zlib.decompressobj(_GZIP_FORMAT)
    # In chunks, because the rest of the data is copied for each member.
    for start in range(0, len(data), _CHUNK):
        # Thousands of empty members take seconds.
        if now_ms() > until:
            raise TimeoutError("timed out")
        rest = data[start : start + _CHUNK]
        while rest and total <= max_bytes:
            if decompressor.eof:
                # A body may consist of several members.
                decompressor = zlib.decompressobj(_GZIP_FORMAT)
            parts.append(decompressor.decompress(rest, max_bytes + 1 - total))
            total += len(parts[-1])
            rest = decompressor.unused_data
    return b"".join(parts)
