"""The HTTP client of the asynchronous provider, based on aiohttp, with persistent connections.

aiohttp needs the full URL. Its exceptions are dropped, its frames are removed from tracebacks, and it does not log the URL of a
request whose response is read or closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from weakref import finalize

import aiohttp
from aiohttp.http_exceptions import ContentEncodingError
from yarl import URL

from ..endpoint.create_endpoint import ResolvedEndpoint
from ..failure.facts import Facts
from ..message.response import HttpResponse
from .abandon_session import abandon_session
from .call_settings import CallSettings
from .connection_settings import ConnectionSettings
from .http_request import (
    BROKEN,
    CUT,
    GZIP,
    INVALID_URL,
    KEEP_ALIVE_S,
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

_NEVER = 1e9


@dataclass(slots=True)
class _Wire:
    """What is known about the connection of a request."""

    connected: bool = False
    reused: bool = False


_current_wire: ContextVar[_Wire] = ContextVar("keyrail_wire")


class _Connector(aiohttp.TCPConnector):
    """Reports whether a request got a connection, and whether it is a new one. The tracing of aiohttp would cost more."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._opened: set[Any] = set()

    async def connect(self, *args: Any, **kwargs: Any) -> Any:
        # Read before this coroutine waits, because tasks can share a context.
        wire = _current_wire.get()
        connection: Any = await super().connect(*args, **kwargs)
        # What a server sent on an idle connection would be read as the response to this request.
        while connection.protocol not in self._opened and connection.protocol.should_close:
            connection.close()
            connection = await super().connect(*args, **kwargs)
        wire.connected = True
        wire.reused = connection.protocol not in self._opened
        self._opened.discard(connection.protocol)
        return connection

    async def _create_connection(self, *args: Any, **kwargs: Any) -> Any:
        protocol = await super()._create_connection(*args, **kwargs)
        self._opened.add(protocol)
        return protocol


@dataclass(slots=True, frozen=True)
class _Target:
    """Where the requests of an endpoint are sent."""

    endpoint: ResolvedEndpoint
    url: URL = field(repr=False)
    is_tls: bool


_Loop: TypeAlias = asyncio.AbstractEventLoop
_Sessions: TypeAlias = "dict[_Loop, tuple[aiohttp.ClientSession, AsyncGenerator[None, None]]]"


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
    # aiohttp reads the credentials in the URL.
    proxy = URL(connections.proxy) if connections.proxy else None
    needs_tls = proxy is not None and proxy.scheme == "https"
    sessions: _Sessions = {}

    # The target of the last request. It changes only with the key or the headers of the endpoint.
    last: _Target | None = None

    def get_target(endpoint: ResolvedEndpoint) -> _Target:
        nonlocal last
        target = last
        if target is None or target.endpoint is not endpoint:
            origin, path = split_url(endpoint.url)
            is_tls = needs_tls or origin.lower().startswith("https")
            target = last = _Target(endpoint, URL(origin + path, encoded=True), is_tls)
        return target

    async def get_session(is_tls: bool) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if loop in sessions:
            session, _ = sessions[loop]
            if not session.closed:
                return session
        _drop_closed_loops(sessions)
        session = aiohttp.ClientSession(
            connector=_Connector(
                limit=settings.max_in_flight,
                keepalive_timeout=KEEP_ALIVE_S,
                ssl=connections.get_ssl_context() if is_tls else True,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"accept-encoding": GZIP, "user-agent": USER_AGENT},
            skip_auto_headers=["accept"],
        )
        until_end = _close_at_end_of_loop(session)
        sessions[loop] = session, until_end
        await until_end.__anext__()
        return session

    async def once(endpoint: ResolvedEndpoint, body: bytes, until: float) -> tuple[HttpResponse | Facts, bool]:
        """Return the response, and whether the connection was closed before the server received the request."""
        left = (until - now_ms()) / 1_000
        if left <= 0:
            return Facts(kind="timeout", text="", unsent=True), False
        wire = _Wire()
        responded = False
        response: aiohttp.ClientResponse | None = None
        try:
            target = get_target(endpoint)
            try:
                session = await get_session(target.is_tls)
            except OSError as error:
                return Facts(kind="invalidRequest", text=describe_ssl_problem(error)), False
            _current_wire.set(wire)
            response = await session.post(
                target.url,
                data=body,
                headers=endpoint.headers,
                proxy=proxy,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=left, ceil_threshold=_NEVER),
            )
            responded = True
            encoding = response.headers.get("content-encoding", "").lower()
            if encoding not in ("", "identity", GZIP):
                return Facts(kind="badResponse", text=describe_encoding(encoding)), False
            parts: list[bytes] = []
            total = 0
            async for part in response.content.iter_any():
                total += len(part)
                if total > settings.max_response_bytes:
                    return Facts(
                        kind="badResponse", text=describe_size_limit(settings.max_response_bytes), final=True
                    ), False
                parts.append(part)
            return HttpResponse(response.status, decode_body(b"".join(parts)), response.headers), False
        except asyncio.TimeoutError:
            return Facts(kind="timeout", text="", unsent=not wire.connected), False
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if isinstance(error.__cause__, ContentEncodingError):
                return Facts(kind="badResponse", text=NOT_GZIP), False
            if not responded and isinstance(error, ValueError) and not isinstance(error, OSError):
                return Facts(kind="invalidRequest", text=INVALID_URL), False
            text = CUT if responded else NOT_HTTP if isinstance(error, aiohttp.ClientResponseError) else BROKEN
            text = text if wire.connected else describe_error(error)
            return Facts(kind="network", text=text, unsent=not wire.connected), not responded and wire.reused
        finally:
            # After a complete response, the connection is back in the pool and stays open.
            if response is not None:
                response.close()

    async def post(endpoint: ResolvedEndpoint, body: bytes, may_repeat: bool, until: float) -> HttpResponse | Facts:
        response, stale = await once(endpoint, body, until)
        if stale and may_repeat:
            # The server closed the idle connection before it received this request.
            response, _ = await once(endpoint, body, until)
        return response

    async def close() -> None:
        own_loop = asyncio.get_running_loop()
        entry = sessions.pop(own_loop, None)
        if entry is not None:
            _, until_end = entry
            await until_end.aclose()
        _drop_all(sessions)

    def after_fork() -> None:
        while sessions:
            _, (session, until_end) = sessions.popitem()
            abandon_session(session, after_fork=True)
            _finish(until_end)

    finalize(post, _drop_all, sessions)
    return post, close, after_fork


async def _close_at_end_of_loop(session: aiohttp.ClientSession) -> AsyncGenerator[None, None]:
    """Close a session when its loop ends, because ``asyncio.run`` closes all asynchronous generators before the loop."""
    try:
        yield
    finally:
        await session.close()


def _finish(until_end: AsyncGenerator[None, None]) -> None:
    """End the generator of a closed session. If it were garbage-collected instead, asyncio would start a task on its loop."""
    with suppress(StopIteration, RuntimeError):
        until_end.aclose().send(None)


def _drop(loop: _Loop, session: aiohttp.ClientSession, until_end: AsyncGenerator[None, None]) -> None:
    """Close the connections of a loop without waiting. If the loop runs in another thread, they are closed there."""

    def drop() -> None:
        abandon_session(session)
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


def _drop_all(sessions: _Sessions) -> None:
    while sessions:
        loop, entry = sessions.popitem()
        _drop(loop, *entry)


def _drop_closed_loops(sessions: _Sessions) -> None:
    for loop in list(sessions):
        # Another thread may have removed it.
        entry = sessions.pop(loop, None) if loop.is_closed() else None
        if entry is not None:
            _drop(loop, *entry)
