"""A WebSocket connection for one subscription.

It consists of functions, because their variables are not attributes: objects of websockets contain the URL, and the URL contains the key.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidProxyStatus, InvalidStatus, WebSocketException

from ..endpoint.create_endpoint import ResolvedEndpoint
from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError
from ..failure.facts import Facts
from ..message.parse_json import UnreadableJson, parse_json
from ..message.read_response import is_id, read_response
from ..message.response import HttpResponse
from .async_connection import connect_socket
from .connection_settings import ConnectionSettings
from .http_failure import TunnelRejectedError, check_tunnel
from .http_request import USER_AGENT, decode_body, describe_error, split_url
from .open_socket import GoodAddresses
from .request_target import Route, create_target_finder
from .response_reader import CutError, ResponseReader

P = ParamSpec("P")
T = TypeVar("T")

METHOD = "eth_subscribe"
# A dead connection is noticed within the sum of both.
_PING_INTERVAL_S = 20
_PING_TIMEOUT_S = 10
_TIMEOUT_S = 10
# A server that does not respond to the close frame must not delay the end of the loop.
_CLOSE_TIMEOUT_S = 1
_CALL_ID = 1
# A server that sends more notifications before the response does not respond.
_MAX_EARLY = 1_000
# A word such as "ping". No notification is so short.
_KEEP_ALIVE = re.compile(r"[\w-]*", re.ASCII)
_MAX_KEEP_ALIVE_LENGTH = 100
# With these statuses, a retry may succeed. All others say that there is no WebSocket at this URL.
_TEMPORARY_STATUSES = frozenset({429, 500, 502, 503, 504})
# At the level DEBUG, websockets logs each request with its path and headers, which contain the key.
_NO_LOGGER = logging.Logger("keyrail.websockets", logging.CRITICAL + 1)


class _Connect(connect):
    def process_redirect(self, exc: Exception) -> Exception | str:
        """Follow no redirect, because the other server would get the key."""
        return exc


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

    opened: ClientConnection | None = None
    facts = Facts(kind="timeout", text=f"no connection within {_TIMEOUT_S * 1_000:.0f} ms", unsent=True)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            opened = await _open(endpoint, connections, max_message_bytes)
    except InvalidStatus as error:
        status = error.response.status_code
        temporary = status in _TEMPORARY_STATUSES
        text = "the server rejected the WebSocket" if temporary else "the server has no WebSocket at this URL"
        facts = Facts(kind=None if temporary else "methodUnavailable", status=status, text=text, unsent=True)
        if temporary:
            facts.retry_after = next(iter(error.response.headers.get_all("retry-after")), None)
    except TimeoutError:
        pass
    except InvalidProxyStatus as error:
        text = describe_error(TunnelRejectedError(error.response.status_code))
        facts = Facts(kind="network", text=text, unsent=True)
    except (WebSocketException, OSError, EOFError, ValueError) as error:
        facts = Facts(kind="network", text=describe_error(error), unsent=True)
    if opened is None:
        return fail(facts)
    client = opened

    async def receive_json() -> Any | KeyrailError:
        while True:
            try:
                text = decode_body(await client.recv(decode=False))
            except ConnectionClosed as error:
                # Without a close frame from the server or from this side, the code is 1006.
                closed = error.rcvd or error.sent
                reason = f", {closed.reason}" if closed and closed.reason else ""
                text = f"the connection was closed (code {closed.code if closed else 1006:d}{reason})"
                return fail(Facts(kind="network", text=text, unsent=True))
            try:
                return parse_json(text)
            except UnreadableJson as error:
                # Some servers and proxies keep a connection alive by an empty message, or by a word.
                if len(text) <= _MAX_KEEP_ALIVE_LENGTH and _KEEP_ALIVE.fullmatch(text.strip()):
                    continue
                return fail(Facts(kind="badResponse", text=error.reason or "a message that is not JSON", unsent=True))

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
        # If the connection was closed, there is nothing to receive either.
        with suppress(ConnectionClosed):
            await client.send(json.dumps(call, separators=(",", ":")))
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
            await client.close()
        except asyncio.CancelledError:
            # websockets leaves the connection open then.
            client.transport.abort()
            raise

    return RpcSocket(_without_frames(subscribe), _without_frames(receive), _without_frames(close))


async def _open(
    endpoint: ResolvedEndpoint, connections: ConnectionSettings, max_message_bytes: int
) -> ClientConnection:
    route = create_target_finder(connections, always_tunnels=True)(endpoint).route
    origin = route.origin
    host = f"[{origin.tls_name}]" if ":" in origin.host else origin.tls_name
    _, path = split_url(endpoint.url)
    headers = dict(endpoint.headers)
    del headers["content-type"]
    options: dict[str, Any] = {"ssl": connections.get_ssl_context()} if origin.is_tls else {}
    if route.tunnel is not None and route.connects_to.is_tls:
        options |= {"proxy": connections.proxy, "proxy_ssl": connections.get_ssl_context()}
    else:
        options |= {"proxy": None, "sock": await _open_socket(route)}
    return await _Connect(
        f"{'wss' if origin.is_tls else 'ws'}://{host}:{origin.port}{path}",
        additional_headers=headers,
        user_agent_header=USER_AGENT,
        compression=None,
        open_timeout=None,
        close_timeout=_CLOSE_TIMEOUT_S,
        ping_interval=_PING_INTERVAL_S,
        ping_timeout=_PING_TIMEOUT_S,
        max_size=max_message_bytes,
        logger=_NO_LOGGER,
        **options,
    )


async def _open_socket(route: Route) -> socket.socket:
    """Connect to the server, or to it through a proxy without TLS. websockets 15 does not close a tunnel if it is cancelled."""
    sock = await connect_socket(route.connects_to, GoodAddresses())
    if route.tunnel is None:
        return sock
    loop = asyncio.get_running_loop()
    reader = ResponseReader(0, has_body=False)
    try:
        await loop.sock_sendall(sock, route.tunnel)
        while not reader.is_complete:
            data = await loop.sock_recv(sock, 4_096)
            if not data:
                raise CutError
            reader.feed(data)
        check_tunnel(reader)
    except BaseException:
        sock.close()
        raise
    return sock
