"""Reports the transactions that enter the pool of the node."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

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
    """Report transactions over a WebSocket if the server has subscriptions, otherwise by polling a filter."""
    recovery = Recovery(schedule, on_error)
    while open_socket is not None:
        try:
            async for event in _receive(open_socket, recovery):
                yield event
        except KeyrailError as failure:
            if is_unsupported(failure):
                break
            await asyncio.sleep(recovery.failed(failure) / 1_000)
    filter_id = None
    while True:
        wait_ms: float = _INTERVAL_MS if interval_ms is None else interval_ms
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
                filter_id, wait_ms = None, 0
            else:
                wait_ms = recovery.failed(failure)
        for one in hashes:
            yield TransactionEvent(one)
        await asyncio.sleep(wait_ms / 1_000)


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
