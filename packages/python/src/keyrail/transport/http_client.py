"""The HTTP client of the synchronous provider, with persistent connections."""

from __future__ import annotations

import threading
from collections.abc import Callable
from weakref import WeakSet

from urllib3.exceptions import HTTPError

from ..endpoint.create_endpoint import ResolvedEndpoint
from ..failure.facts import Facts
from ..message.response import HttpResponse
from .call_settings import CallSettings
from .connection import Connection
from .connection_pool import ConnectionPool
from .connection_settings import ConnectionSettings
from .http_failure import describe_failure
from .http_request import INVALID_URL, describe_ssl_problem
from .open_socket import GoodAddresses
from .request_target import RequestTarget, Route, create_target_finder
from .response_reader import ResponseReader, to_bodyless_response, to_response
from .steps import now_ms

_UNSENT_TIMEOUT = Facts(kind="timeout", text="", unsent=True)


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
    good = GoodAddresses()
    # All connections, in use or idle.
    opened: WeakSet[Connection] = WeakSet()

    def create_pool(route: Route) -> ConnectionPool:
        ssl_context = connections.get_ssl_context() if route.uses_tls else None

        def create_connection() -> Connection:
            connection = Connection(route, ssl_context, good)
            opened.add(connection)
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
        connection = pool.take(max(0, until - now_ms()) / 1_000)
        if connection is None:
            return _UNSENT_TIMEOUT, False
        reused = connected = connection.is_open
        reusable = False
        reader = ResponseReader(settings.max_response_bytes)
        try:
            if now_ms() >= until:
                reusable = reused
                return _UNSENT_TIMEOUT, False
            if not connected:
                connection.connect(until)
                connected = True
            sent = connection.request(target.write(body), reader, until)
            reusable = sent and reader.is_reusable
            return to_response(reader, settings.max_response_bytes, until), False
        except (OSError, EOFError, ValueError) as error:
            if isinstance(error, TimeoutError) and now_ms() >= until - 5:
                return Facts(kind="timeout", text="", unsent=not connected), False
            failure = to_bodyless_response(reader, describe_failure(error, reader, connected))
            return failure, reader.status == 0 and reused
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
        nonlocal lock, opened
        # Threads of the parent may hold the locks and connections of the pools. Those threads do not exist in this process.
        lock = threading.Lock()
        pools.clear()
        for connection in list(opened):
            connection.close()
        opened = WeakSet()

    return post, close, after_fork
