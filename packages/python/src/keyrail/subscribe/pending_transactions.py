"""Reports the transactions that enter the pool of the node."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from ..failure.error import KeyrailError
from .chain_source import Request, malformed
from .events import TransactionEvent
from .follow_socket import OpenSocket, connect, is_unsupported
from .poll_schedule import PollSchedule
from .recovery import OnError, Recovery

_INTERVAL_MS = 1_000


async def follow_pending_transactions(
    request: Request,
    open_socket: OpenSocket | None,
    schedule: PollSchedule,
    on_error: OnError | None,
    interval_ms: float | None,
) -> AsyncGenerator[TransactionEvent, None]:
    """Report transactions over a WebSocket if the server has subscriptions, and by polling while there is no connection."""
    recovery = Recovery(schedule, on_error)
    socket_recovery = Recovery(schedule, on_error)
    interval_s = (_INTERVAL_MS if interval_ms is None else interval_ms) / 1_000
    while open_socket is not None:
        try:
            # So that the connection is closed when this generator is.
            async with aclosing(_receive(open_socket, socket_recovery)) as events:
                async for event in events:
                    yield event
        except KeyrailError as failure:
            if is_unsupported(failure):
                break
            until = time.monotonic() + socket_recovery.failed(failure) / 1_000
            async for event in _poll_between_connections(request, recovery, interval_s, until):
                yield event
    async for event in _poll(request, recovery, interval_s, math.inf):
        yield event


async def _poll_between_connections(
    request: Request, recovery: Recovery, interval_s: float, until: float
) -> AsyncGenerator[TransactionEvent, None]:
    """Poll until a time. A server that has no filters is given this time to accept connections again."""
    try:
        async for event in _poll(request, recovery, interval_s, until):
            yield event
    except KeyrailError as failure:
        if not is_unsupported(failure):
            raise
        await asyncio.sleep(max(until - time.monotonic(), 0))


async def _poll(
    request: Request, recovery: Recovery, interval_s: float, until: float
) -> AsyncGenerator[TransactionEvent, None]:
    """Poll a filter until a time of ``time.monotonic()``."""
    filter_id = None
    while True:
        wait_s = interval_s
        hashes: list[str] = []
        try:
            if filter_id is None:
                filter_id = await request("eth_newPendingTransactionFilter", [])
            else:
                hashes = await request("eth_getFilterChanges", [filter_id])
            if not isinstance(hashes, list):
                raise malformed("the result of eth_getFilterChanges", "an array")
            recovery.succeeded()
        except KeyrailError as failure:
            # Nodes delete filters that are not polled for some minutes.
            if filter_id is not None and "filter" in (failure.rpc_error or {}).get("message", "").lower():
                filter_id, wait_s = None, 0
            else:
                wait_s = recovery.failed(failure) / 1_000
        for one in hashes:
            yield TransactionEvent(one)
        left_s = until - time.monotonic()
        if left_s <= 0:
            return
        await asyncio.sleep(min(wait_s, left_s))


async def _receive(open_socket: OpenSocket, recovery: Recovery) -> AsyncGenerator[TransactionEvent, None]:
    socket = await connect(open_socket)
    try:
        failure = await socket.subscribe(["newPendingTransactions"])
        if failure is not None:
            raise failure
        recovery.succeeded()
        while True:
            notification = await socket.receive(None)
            if isinstance(notification, KeyrailError):
                raise notification
            yield TransactionEvent(notification.get("result"))
    finally:
        await socket.close()
