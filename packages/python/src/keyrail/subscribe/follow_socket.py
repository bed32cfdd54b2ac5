"""Receives the chain from a service of Keyrail over a WebSocket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from ..failure.error import KeyrailError, create_error
from .apply_notification import NotificationReader
from .chain_poller import Events
from .chain_source import ChainSource
from .recent_chain import MAX_CURSOR_BLOCKS, RecentChain

if TYPE_CHECKING:
    from ..transport.rpc_socket import RpcSocket

OpenSocket: TypeAlias = "Callable[[], Awaitable[RpcSocket | KeyrailError]]"

# The position at which the stream starts follows the response at once. A server that sends none in this time has ignored the cursor.
_STARTS_WITHIN_S = 5


def ignored_cursor() -> KeyrailError:
    """Create the error for a server that accepts the cursor, and subscribes without it."""
    message = "The server does not know the cursor of eth_subscribe."
    return create_error(message, kind="methodUnavailable", source="service", retryable=False, method="eth_subscribe")


def is_unsupported(failure: KeyrailError) -> bool:
    """Check whether the server has no cursors, no subscriptions or no WebSocket."""
    if failure.kind == "methodUnavailable" or _get_code(failure) in (-32_601, -32_602):
        return True
    # Servers use any code for it, such as -32006 and -32608.
    has_no_kind = failure.kind in ("invalidRequest", "unknown") and not is_cursor_too_old(failure)
    return failure.rpc_error is not None and has_no_kind


def is_cursor_too_old(failure: KeyrailError) -> bool:
    """Check whether the service has none of the cursor's blocks among its recent ones."""
    return _get_code(failure) == -32_001


def _get_code(failure: KeyrailError) -> int:
    return (failure.rpc_error or {}).get("code", 0)


async def connect(open_socket: OpenSocket) -> RpcSocket:
    """Open a connection, or raise its failure."""
    opened = await open_socket()
    if isinstance(opened, KeyrailError):
        raise opened
    return opened


async def follow_socket(
    open_socket: OpenSocket, chain: RecentChain, source: ChainSource, on_start: Callable[[], None]
) -> Events:
    """Subscribe with the chain as the cursor, and report what the service sends.

    No notification is read while the consumer processes an event. If that takes so long that the service closes the connection, the
    next one continues from the cursor.

    Args:
        open_socket: Opens a connection.
        chain: The chain.
        source: Loads what is reported of a block.
        on_start: Called when the service has accepted the cursor.

    Raises:
        KeyrailError: The failure of ``eth_subscribe`` or of the connection.

    """
    newest = chain.newest
    cursor: dict[str, Any] | None = None
    if newest is not None:
        hashes = [block.hash for block in reversed(chain.blocks[-MAX_CURSOR_BLOCKS:])]
        cursor = {"number": hex(newest.number), "hashes": hashes}
    what: list[Any] = ["newHeads"] if source.logs is None else ["logs", source.logs]
    socket = await connect(open_socket)
    try:
        failure = await socket.subscribe([*what, {"cursor": cursor}])
        if failure is not None:
            raise failure
        reader = NotificationReader(chain, source)
        started = False
        while True:
            notification = await socket.receive(None if started else _STARTS_WITHIN_S)
            if isinstance(notification, KeyrailError):
                raise ignored_cursor() if notification.kind == "timeout" else notification
            if not started and "position" not in notification:
                raise ignored_cursor()
            async for event in reader.apply(notification):
                yield event
            if not started:
                started = True
                on_start()
    finally:
        await socket.close()
