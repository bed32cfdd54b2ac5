"""Bytes over HTTP by aiohttp, with connections that are kept.

aiohttp has to know the address. It stays in here: what it raises is dropped, its frames do not reach a traceback, and it logs
no address of a request that is seen to its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import aiohttp
from yarl import URL

from ..address.open_address import OpenAddress
from ..failure.facts import Facts
from ..message.answer import Answer
from .options import Plan
from .post import BROKEN, CUT, GZIP, TOO_LARGE, target_of, text_of, words_of
from .steps import now_ms

_KEEP_ALIVE_S = 15
_NEVER = 1e9


def create_async_carrier(plan: Plan) -> tuple[Callable[..., Awaitable[Answer | Facts]], Callable[[], Awaitable[None]]]:
    """Make a function that posts a body, and one that closes all connections. Each event loop has connections of its own.

    Args:
        plan: How large an answer may be, and how many requests may be under way.

    """
    sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession] = WeakKeyDictionary()

    async def on_connected(_: Any, context: SimpleNamespace, __: Any) -> None:
        context.trace_request_ctx.connected = True

    async def on_reused(_: Any, context: SimpleNamespace, __: Any) -> None:
        context.trace_request_ctx.connected = context.trace_request_ctx.reused = True

    def session_of_loop() -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        session = sessions.get(loop)
        if session is None or session.closed:
            trace = aiohttp.TraceConfig()
            trace.on_connection_create_end.append(on_connected)
            trace.on_connection_reuseconn.append(on_reused)
            session = sessions[loop] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=plan.max_in_flight, keepalive_timeout=_KEEP_ALIVE_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                trace_configs=[trace],
                headers={"accept-encoding": GZIP, "user-agent": "keyrail-python"},
                skip_auto_headers=["accept"],
            )
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
            response = await session_of_loop().post(
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
        loop = asyncio.get_running_loop()
        for held, session in list(sessions.items()):
            del sessions[held]
            if held is loop:
                await session.close()
            elif session.connector is not None:
                # Its loop may be gone: what can be closed without waiting is.
                session.connector.close()
                session.detach()

    return post, close
