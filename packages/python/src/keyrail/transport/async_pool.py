"""Bytes over HTTP by aiohttp, with connections that are kept.

aiohttp has to know the address. It stays in here: what it raises is dropped, its frames do not reach a traceback, and it logs
no address of a request that is seen to its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, TypeAlias
from weakref import finalize

import aiohttp
from yarl import URL

from ..address.open_address import OpenAddress
from ..failure.facts import Facts
from ..message.answer import Answer
from .abandon_session import abandon_session
from .options import Plan
from .post import BROKEN, CUT, GZIP, TOO_LARGE, target_of, text_of, words_of
from .steps import now_ms

_KEEP_ALIVE_S = 15
_NEVER = 1e9


_Loop: TypeAlias = asyncio.AbstractEventLoop
_Sessions: TypeAlias = "dict[_Loop, tuple[aiohttp.ClientSession, AsyncGenerator[None, None]]]"


def create_async_client(
    plan: Plan,
) -> tuple[Callable[..., Awaitable[Answer | Facts]], Callable[[], Awaitable[None]], Callable[[], None]]:
    """Make three functions: one posts a body, one closes all connections, and one starts over in a child process after a fork.

    Each event loop has connections of its own. They are closed when the loop ends; if the loop was closed without
    ``shutdown_asyncgens()``, with the next call on another loop. When the provider is collected, all are closed.

    Args:
        plan: How large an answer may be, and how many requests may be under way.

    """
    sessions: _Sessions = {}

    async def on_connected(_: Any, context: SimpleNamespace, __: Any) -> None:
        context.trace_request_ctx.connected = True

    async def on_reused(_: Any, context: SimpleNamespace, __: Any) -> None:
        context.trace_request_ctx.connected = context.trace_request_ctx.reused = True

    async def session_of_loop() -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if loop in sessions:
            session, _ = sessions[loop]
            if not session.closed:
                return session
        _drop_closed_loops(sessions)
        trace = aiohttp.TraceConfig()
        trace.on_connection_create_end.append(on_connected)
        trace.on_connection_reuseconn.append(on_reused)
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=plan.max_in_flight, keepalive_timeout=_KEEP_ALIVE_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            trace_configs=[trace],
            headers={"accept-encoding": GZIP, "user-agent": "keyrail-python"},
            skip_auto_headers=["accept"],
        )
        until_end = _close_at_end_of_loop(session)
        sessions[loop] = session, until_end
        await until_end.__anext__()
        return session

    async def once(address: OpenAddress, body: bytes, until: float) -> tuple[Answer | Facts, bool]:
        """Give the answer, and whether the connection was dead before the request reached anyone."""
        left = (until - now_ms()) / 1_000
        if left <= 0:
            return Facts(kind="timeout", text="", unsent=True), False
        wire = SimpleNamespace(connected=False, reused=False)
        begun = False
        response: aiohttp.ClientResponse | None = None
        try:
            origin, target = target_of(address.url)
            session = await session_of_loop()
            response = await session.post(
                URL(origin + target, encoded=True),
                data=body,
                headers=address.headers,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=left, ceil_threshold=_NEVER),
                trace_request_ctx=wire,
            )
            begun = True
            encoding = response.headers.get("content-encoding", "").lower()
            if encoding not in ("", "identity", GZIP):
                text = "the answer is encoded in a way that was not asked for"
                return Facts(kind="badResponse", text=text), False
            parts: list[bytes] = []
            total = 0
            async for part in response.content.iter_any():
                total += len(part)
                if total > plan.max_response_bytes:
                    return Facts(kind="badResponse", text=TOO_LARGE, final=True), False
                parts.append(part)
            return Answer(response.status, text_of(b"".join(parts)), response.headers.copy()), False
        except asyncio.TimeoutError:
            return Facts(kind="timeout", text="", unsent=not wire.connected), False
        except aiohttp.InvalidURL:
            return Facts(kind="invalidRequest", text="the address cannot be asked"), False
        except (aiohttp.ClientError, OSError, ValueError) as error:
            text = CUT if begun else words_of(error) if not wire.connected else BROKEN
            return Facts(kind="network", text=text, unsent=not wire.connected), not begun and wire.reused
        finally:
            # Where all was read it went back to the pool already, and stays open.
            if response is not None:
                response.close()

    async def post(address: OpenAddress, body: bytes, again: bool, until: float) -> Answer | Facts:
        read, stale = await once(address, body, until)
        if stale and again:
            # The server had closed the idle connection before this call reached it: nobody has seen the call.
            read, _ = await once(address, body, until)
        return read

    async def close() -> None:
        own = asyncio.get_running_loop()
        held = sessions.pop(own, None)
        if held is not None:
            _, until_end = held
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
    """Close a session when its loop ends: ``asyncio.run`` closes all asynchronous generators before it closes the loop."""
    try:
        yield
    finally:
        await session.close()


def _finish(until_end: AsyncGenerator[None, None]) -> None:
    """End the generator of a session that is closed. If it were collected instead, asyncio would start a task on its loop."""
    with suppress(StopIteration, RuntimeError):
        until_end.aclose().send(None)


def _drop(loop: _Loop, session: aiohttp.ClientSession, until_end: AsyncGenerator[None, None]) -> None:
    """Close the connections of a loop without waiting: on the loop itself, if it runs in another thread."""

    def drop() -> None:
        abandon_session(session)
        _finish(until_end)

    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if loop.is_running() and loop is not running:
        # It may be closed in this moment. Then the connections are closed when they are collected.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(drop)
    else:
        drop()


def _drop_all(sessions: _Sessions) -> None:
    while sessions:
        loop, held = sessions.popitem()
        _drop(loop, *held)


def _drop_closed_loops(sessions: _Sessions) -> None:
    for loop in list(sessions):
        # Another thread may be quicker.
        held = sessions.pop(loop, None) if loop.is_closed() else None
        if held is not None:
            _drop(loop, *held)
