"""A WebSocket connection for one subscription, based on aiohttp.

It consists of functions, because their variables are not attributes: aiohttp's objects contain the URL, and the URL contains the key.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeVar

import aiohttp
from yarl import URL

from ..endpoint.create_endpoint import ResolvedEndpoint
from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError
from ..failure.facts import Facts
from ..message.parse_json import UnreadableJson, parse_json
from ..message.read_response import is_id, read_response
from ..message.response import HttpResponse
from .connection_settings import ConnectionSettings
from .http_request import USER_AGENT, decode_body, describe_error, split_url

P = ParamSpec("P")
T = TypeVar("T")

METHOD = "eth_subscribe"
# A dead connection is noticed within one and a half times this.
_HEARTBEAT_S = 20
_TIMEOUT_S = 10
_CALL_ID = 1
# A server that sends more notifications before the response does not respond.
_MAX_EARLY = 1_000
# A word such as "ping". No notification is so short.
_KEEP_ALIVE = re.compile(r"[\w-]*", re.ASCII)
_MAX_KEEP_ALIVE_LENGTH = 100
# With these statuses, a retry may succeed. All others say that there is no WebSocket at this URL.
_TEMPORARY_STATUSES = frozenset({429, 500, 502, 503, 504})


@dataclass(slots=True, frozen=True)
class RpcSocket:
    """A connection with one subscription."""

    subscribe: Callable[[list[Any]], Awaitable[KeyrailError | None]]
    """Subscribes with these params. Returns the failure, if there was one."""
    receive: Callable[[float | None], Awaitable[dict[str, Any] | KeyrailError]]
    """Returns the next notification of the subscription, which is its ``params``, or the failure that ended the connection. The failure
    is of kind ``timeout`` if none came within a number of seconds."""
    close: Callable[[], Awaitable[None]]


def _without_frames(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Remove the frames of a cancellation, because they contain the URL."""

    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        escaping: BaseException
        try:
            return await function(*args, **kwargs)
        except BaseException as error:
            escaping = error.with_traceback(None)
            escaping.__context__ = None
        raise escaping

    return run


async def open_rpc_socket(
    endpoint: ResolvedEndpoint, connections: ConnectionSettings, max_message_bytes: int
) -> RpcSocket | KeyrailError:
    """Connect to an endpoint.

    Args:
        endpoint: The endpoint with its secrets.
        connections: The proxy and the TLS settings.
        max_message_bytes: Larger messages end the connection.

    Returns:
        The connection, or the failure: of kind ``methodUnavailable`` if the server has no WebSocket at this URL.

    """

    def fail(facts: Facts) -> KeyrailError:
        return create_failure(
            facts, method=METHOD, redacted_url=endpoint.redacted_url, secrets=endpoint.secrets
        ).with_traceback(None)

    origin, target = split_url(endpoint.url)
    proxy = URL(connections.proxy) if connections.proxy else None
    is_tls = origin.lower().startswith("https") or (proxy is not None and proxy.scheme == "https")
    connector = aiohttp.TCPConnector(ssl=connections.get_ssl_context() if is_tls else True)
    session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
    headers = {"user-agent": USER_AGENT, **endpoint.headers}
    del headers["content-type"]
    opened: aiohttp.ClientWebSocketResponse | None = None
    facts = Facts(kind="timeout", text=f"no connection within {_TIMEOUT_S * 1_000:.0f} ms", unsent=True)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            opened = await session.ws_connect(
                URL("ws" + origin[4:] + target, encoded=True),
                headers=headers,
                proxy=proxy,
                heartbeat=_HEARTBEAT_S,
                max_msg_size=max_message_bytes,
            )
    except aiohttp.WSServerHandshakeError as error:
        temporary = error.status in _TEMPORARY_STATUSES
        text = "the server rejected the WebSocket" if temporary else "the server has no WebSocket at this URL"
        facts = Facts(kind=None if temporary else "methodUnavailable", status=error.status, text=text, unsent=True)
        if temporary and error.headers is not None:
            facts.retry_after = error.headers.get("retry-after")
    except TimeoutError:
        pass
    except (aiohttp.ClientError, OSError, ValueError) as error:
        facts = Facts(kind="network", text=describe_error(error), unsent=True)
    finally:
        if opened is None:
            await session.close()
    if opened is None:
        return fail(facts)
    socket = opened

    async def receive_json() -> Any | KeyrailError:
        while (message := await socket.receive()).type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            text = decode_body(message.data.encode() if isinstance(message.data, str) else message.data)
            try:
                return parse_json(text)
            except UnreadableJson as error:
                # Some servers and proxies keep a connection alive by an empty message, or by a word.
                if len(text) <= _MAX_KEEP_ALIVE_LENGTH and _KEEP_ALIVE.fullmatch(text.strip()):
                    continue
                return fail(Facts(kind="badResponse", text=error.reason or "a message that is not JSON", unsent=True))
        code, reason = socket.close_code, message.extra if isinstance(message.extra, str) else ""
        text = f"the connection was closed (code {code}{', ' + reason if reason else ''})"
        return fail(Facts(kind="network", text=text, unsent=True))

    subscribed = ""
    # Notifications that came before the response.
    early: list[dict[str, Any]] = []

    def read_notification(message: Any) -> dict[str, Any] | None:
        if isinstance(message, dict) and message.get("method") == "eth_subscription":
            params = message.get("params")
            return params if isinstance(params, dict) else None
        return None

    async def request(params: list[Any]) -> str | KeyrailError:
        call = {"jsonrpc": "2.0", "id": _CALL_ID, "method": METHOD, "params": params}
        await socket.send_str(json.dumps(call, separators=(",", ":")))
        while True:
            message = await receive_json()
            if isinstance(message, KeyrailError):
                return message
            notification = read_notification(message)
            if notification is not None:
                early.append(notification)
                if len(early) > _MAX_EARLY:
                    text = "the server sent too many notifications before the id of their subscription"
                    return fail(Facts(kind="badResponse", text=text, unsent=True))
                continue
            # An error without an id is about the only call there is: the server could not read it.
            members = message if isinstance(message, dict) else {}
            is_error = members.get("id") is None and members.get("error") is not None
            if not is_error and not is_id(members.get("id"), _CALL_ID):
                continue
            outcome = read_response(HttpResponse(200, "", {}), _CALL_ID, message)
            # Subscribing again does no harm.
            return fail(replace(outcome, unsent=True)) if isinstance(outcome, Facts) else str(outcome.value)

    async def subscribe(params: list[Any]) -> KeyrailError | None:
        nonlocal subscribed
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                outcome = await request(params)
        except TimeoutError:
            return fail(Facts(kind="timeout", text=f"no response within {_TIMEOUT_S * 1_000:.0f} ms", unsent=True))
        except (aiohttp.ClientError, OSError) as error:
            return fail(Facts(kind="network", text=describe_error(error), unsent=True))
        if isinstance(outcome, KeyrailError):
            return outcome
        subscribed = outcome
        return None

    async def receive(seconds: float | None) -> dict[str, Any] | KeyrailError:
        try:
            async with asyncio.timeout(seconds):
                return await receive_next()
        except TimeoutError:
            return fail(Facts(kind="timeout", text="no notification", unsent=True))

    async def receive_next() -> dict[str, Any] | KeyrailError:
        while True:
            message = None if early else await receive_json()
            if isinstance(message, KeyrailError):
                return message
            notification = early.pop(0) if early else read_notification(message)
            if notification is None or notification.get("subscription") != subscribed:
                continue
            if isinstance(message, dict) and message.get("error") is not None:
                # The service has ended the subscription, for example because the allow list of the app is narrower now.
                outcome = read_response(HttpResponse(200, "", {}), _CALL_ID, {**message, "id": _CALL_ID})
                if isinstance(outcome, Facts):
                    return fail(replace(outcome, unsent=True))
            return notification

    async def close() -> None:
        try:
            # A server that does not respond to the close frame must not delay the end of the loop.
            async with asyncio.timeout(1):
                await socket.close()
        except (TimeoutError, aiohttp.ClientError, OSError):
            pass
        finally:
            await session.close()

    return RpcSocket(_without_frames(subscribe), _without_frames(receive), _without_frames(close))
