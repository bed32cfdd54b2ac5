"""The HTTP client of the synchronous provider, with persistent connections.

urllib3 opens the connections: it knows TLS inside of TLS and where each system keeps its certificates. It never gets the URL, so nothing
that it logs, raises or stores contains the key.
"""

from __future__ import annotations

import errno
import os
import socket
import ssl
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from urllib3.connection import HTTPConnection, HTTPSConnection, ProxyConfig
from urllib3.exceptions import HTTPError
from urllib3.util import parse_url

from ..endpoint.create_endpoint import ResolvedEndpoint
from ..failure.facts import Facts
from ..message.response import HttpResponse
from .call_settings import CallSettings
from .connection_pool import ConnectionPool
from .connection_settings import ConnectionSettings
from .http_failure import check_tunnel, describe_failure
from .http_request import INVALID_URL, decode_body, describe_ssl_problem
from .request_target import RequestTarget, Route, create_target_finder
from .response_reader import ResponseReader, read_body
from .steps import now_ms

_PIECE = 65_536
_UNSENT_TIMEOUT = Facts(kind="timeout", text="", unsent=True)


def _limit(sock: Any, until: float) -> None:
    """Let the next operation of a socket take the time that is left. The timeout of a socket alone starts again with each one."""
    left = until - now_ms()
    if left <= 0:
        raise TimeoutError("timed out")
    sock.settimeout(left / 1_000)


class _Plain(HTTPConnection):
    """Connects until a deadline. The timeout of urllib3 starts again with each address, and with each step after the connection."""

    until: float = 0
    """By ``now_ms``."""
    tunnel_request: bytes = b""

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
        reader = ResponseReader(0, has_body=False)
        _send(self.sock, self.tunnel_request, self.until)
        _receive(self.sock, reader, self.until)
        check_tunnel(reader)
        _limit(self.sock, self.until)


class _Secure(_Plain, HTTPSConnection):
    pass


def create_http_client(
    settings: CallSettings, connections: ConnectionSettings
) -> tuple[Callable[..., HttpResponse | Facts], Callable[[], None], Callable[[], None]]:
    """Create three functions: to post a body, to close all connections, and to start over in a child process after a fork.

    Args:
        settings: The maximum size of responses and the maximum number of requests in flight.
        connections: The proxy and the TLS settings.

    """
    find_target = create_target_finder(connections)
    pools: dict[Route, ConnectionPool] = {}
    lock = threading.Lock()
    # All open sockets, in use or idle.
    sockets: WeakSet[Any] = WeakSet()

    def create_pool(route: Route) -> ConnectionPool:
        origin, server = route.origin, route.connects_to
        ssl_context = connections.get_ssl_context() if route.uses_tls else None

        def create_connection() -> HTTPConnection:
            if route.tunnel is None:
                if ssl_context is None:
                    return _Plain(server.host, server.port)
                return _Secure(server.host, server.port, ssl_context=ssl_context)
            scheme = "https" if server.is_tls else "http"
            connection = _Secure(
                server.host,
                server.port,
                ssl_context=ssl_context,
                proxy=parse_url(f"{scheme}://proxy"),
                proxy_config=ProxyConfig(ssl_context, False, None, None),
            )
            connection.tunnel_request = route.tunnel
            # It uses the host as the name of the certificate. The tunnel itself is opened by ``_tunnel``.
            connection.set_tunnel(origin.host, origin.port, None, scheme)
            return connection

        return ConnectionPool(create_connection, settings.max_in_flight)

    def get_pool(route: Route) -> ConnectionPool:
        pool = pools.get(route)
        if pool is None:
            with lock:
                pool = pools.get(route) or pools.setdefault(route, create_pool(route))
        return pool

    def once(target: RequestTarget, body: bytes, until: float) -> tuple[HttpResponse | Facts, bool]:
        """Return the response, and whether the connection was closed before the server received the request."""
        pool = get_pool(target.route)
        connection: Any
        try:
            connection = pool.take(max(0, until - now_ms()) / 1_000)
        except ValueError:
            # Newer versions of Python encode the name of the host before they connect to a proxy.
            return Facts(kind="invalidRequest", text=INVALID_URL), False
        if connection is None:
            return _UNSENT_TIMEOUT, False
        reused = connected = connection.sock is not None
        reusable = False
        reader = ResponseReader(settings.max_response_bytes)
        try:
            if now_ms() >= until:
                reusable = reused
                return _UNSENT_TIMEOUT, False
            if not connected:
                connection.until = until
                connection.connect()
                connected = True
                sockets.add(connection.sock)
            sent = _send(connection.sock, target.write(body), until)
            _receive(connection.sock, reader, until)
            reusable = sent and reader.is_reusable
            data = read_body(reader, settings.max_response_bytes, until)
            if isinstance(data, Facts):
                return data, False
            return HttpResponse(reader.status, decode_body(data), reader.headers), False
        except (HTTPError, OSError, EOFError, ValueError, zlib.error) as error:
            if isinstance(error, TimeoutError) and now_ms() >= until - 5:
                return Facts(kind="timeout", text="", unsent=not connected), False
            return describe_failure(error, reader, connected), reader.status == 0 and reused
        finally:
            pool.give_back(connection, reusable)

    def post(endpoint: ResolvedEndpoint, body: bytes, may_repeat: bool, until: float) -> HttpResponse | Facts:
        try:
            target = find_target(endpoint)
            get_pool(target.route)
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
        with lock:
            for pool in pools.values():
                pool.close()
            pools.clear()

    def after_fork() -> None:
        nonlocal lock, sockets
        # Threads of the parent may hold the locks and connections of the pools. Those threads do not exist in this process.
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


def _receive(sock: Any, reader: ResponseReader, until: float) -> None:
    while not reader.is_complete:
        _limit(sock, until)
        data = sock.recv(_PIECE)
        if data:
            reader.feed(data)
        else:
            reader.end()
