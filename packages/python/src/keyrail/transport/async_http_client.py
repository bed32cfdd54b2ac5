"""The HTTP client of the asynchronous provider, with persistent connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias
from weakref import finalize

from ..endpoint.create_endpoint import ResolvedEndpoint
from ..failure.facts import Facts
from ..message.response import HttpResponse
from .async_connections import AsyncConnections
from .call_settings import CallSettings
from .connection_settings import ConnectionSettings
from .http_failure import describe_failure
from .http_request import INVALID_URL, describe_ssl_problem
from .open_socket import GoodAddresses
from .request_target import RequestTarget, create_target_finder
from .response_reader import ResponseReader, to_bodyless_response, to_response
from .steps import now_ms

_Loop: TypeAlias = asyncio.AbstractEventLoop
_ByLoop: TypeAlias = "dict[_Loop, tuple[AsyncConnections, AsyncGenerator[None, None]]]"


def create_async_http_client(
    settings: CallSettings, connections: ConnectionSettings
) -> tuple[Callable[..., Awaitable[HttpResponse | Facts]], Callable[[], Awaitable[None]], Callable[[], None]]:
    """Create three functions: to post a body, to close all connections, and to start over in a child process after a fork.

    Each event loop has its own connections. They are closed when the loop ends, or, if the loop was closed without
    ``shutdown_asyncgens()``, by the next call on another loop. All connections are closed when the provider is garbage-collected.

    Args:
        settings: The maximum size of responses and the maximum number of requests in flight.
        connections: The proxy and the TLS settings.

    """
    find_target = create_target_finder(connections)
    good = GoodAddresses()
    by_loop: _ByLoop = {}

    async def get_connections() -> AsyncConnections:
        loop = asyncio.get_running_loop()
        entry = by_loop.get(loop)
        if entry is not None and not entry[0].is_closed:
            return entry[0]
        _drop_closed_loops(by_loop)
        created = AsyncConnections(settings.max_in_flight, connections.get_ssl_context, good)
        until_end = _close_at_end_of_loop(created)
        by_loop[loop] = created, until_end
        await until_end.__anext__()
        return created

    async def once(target: RequestTarget, body: bytes, until: float) -> tuple[HttpResponse | Facts, bool]:
        """Return the response, and whether the connection was closed before the server received the request."""
        reader = ResponseReader(settings.max_response_bytes)
        connected = reused = False
        try:
            async with asyncio.timeout(max(0, until - now_ms()) / 1_000):
                own = await get_connections()
                async with own.turns:
                    connection, reused = await own.take(target.route)
                    connected = True
                    try:
                        await connection.request(target.write(body), reader)
                    finally:
                        own.give_back(target.route, connection, reader)
            return to_response(reader, settings.max_response_bytes, until), False
        except (OSError, EOFError, ValueError) as error:
            if isinstance(error, TimeoutError) and now_ms() >= until - 5:
                return Facts(kind="timeout", text="", unsent=not connected), False
            failure = to_bodyless_response(reader, describe_failure(error, reader, connected))
            return failure, reader.status == 0 and reused

    async def post(endpoint: ResolvedEndpoint, body: bytes, may_repeat: bool, until: float) -> HttpResponse | Facts:
        try:
            target = find_target(endpoint)
            if target.route.uses_tls:
                connections.get_ssl_context()
        except OSError as error:
            return Facts(kind="invalidRequest", text=describe_ssl_problem(error))
        except ValueError:
            return Facts(kind="invalidRequest", text=INVALID_URL)
        response, stale = await once(target, body, until)
        if stale and may_repeat:
            # The server closed the idle connection before it received this request.
            response, _ = await once(target, body, until)
        return response

    async def close() -> None:
        entry = by_loop.pop(asyncio.get_running_loop(), None)
        if entry is not None:
            _, until_end = entry
            await until_end.aclose()
        _drop_all(by_loop)

    def after_fork() -> None:
        while by_loop:
            _, (parents, until_end) = by_loop.popitem()
            parents.close()
            _finish(until_end)

    finalize(post, _drop_all, by_loop)
    return post, close, after_fork


async def _close_at_end_of_loop(connections: AsyncConnections) -> AsyncGenerator[None, None]:
    """Close the connections when their loop ends, because ``asyncio.run`` closes all asynchronous generators before the loop."""
    try:
        yield
    finally:
        connections.close()


def _finish(until_end: AsyncGenerator[None, None]) -> None:
    """End the generator of closed connections. If it were garbage-collected instead, asyncio would start a task on its loop."""
    with suppress(StopIteration, RuntimeError):
        until_end.aclose().send(None)


def _drop(loop: _Loop, connections: AsyncConnections, until_end: AsyncGenerator[None, None]) -> None:
    """Close the connections of a loop without waiting. If the loop runs in another thread, they are closed there."""

    def drop() -> None:
        connections.close()
        _finish(until_end)

    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if loop.is_running() and loop is not running:
        # The loop may close right now. Then the connections are closed when they are garbage-collected.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(drop)
    else:
        drop()


def _drop_all(by_loop: _ByLoop) -> None:
    while by_loop:
        loop, entry = by_loop.popitem()
        _drop(loop, *entry)


def _drop_closed_loops(by_loop: _ByLoop) -> None:
    for loop in list(by_loop):
        # Another thread may have removed it.
        entry = by_loop.pop(loop, None) if loop.is_closed() else None
        if entry is not None:
            _drop(loop, *entry)
