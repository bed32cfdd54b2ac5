"""The subscriptions of a WebSocket of the mock node."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .mock_chain import Block, MockChain
from .mock_methods import NO_PLACE, select_logs
from .rpc_error import RpcError

_KINDS = ("newHeads", "logs", "newPendingTransactions", "syncing")
# The service sends the position of a subscription to logs at least so often.
_MAX_QUIET_BLOCKS = 16
# The service remembers this many blocks.
_REMEMBERED_BLOCKS = 128
_MAX_HASHES = 256
_NOT_IN_HEADS = ("size", "uncles")


@dataclass(slots=True)
class _Subscription:
    kind: str
    logs: Mapping[str, Any]
    """The filter of logs."""
    full: bool
    """Whether whole transactions are sent instead of their hashes."""
    has_cursor: bool
    """Whether it was made with a cursor, so that it gets positions."""
    next: int
    """The first event, or for transactions the first arrival, that it has not got."""
    active: bool = False
    quiet_blocks: int = 0
    """How many blocks in a row had no log for it."""
    first: list[dict[str, Any]] = field(default_factory=list)
    """What it gets first."""


class Subscriptions:
    """The subscriptions of a connection.

    Args:
        chain: The chain.
        has_cursors: Returns whether the node takes cursors, as Keyrail's service does.

    """

    def __init__(self, chain: MockChain, has_cursors: Callable[[], bool]) -> None:
        self._chain = chain
        self._has_cursors = has_cursors
        self._all: dict[str, _Subscription] = {}
        self._created = 0

    def subscribe(self, kind: Any = None, *options: Any) -> str:
        """Run ``eth_subscribe``. Nothing is sent before ``activate``.

        Raises:
            RpcError: For wrong params.

        """
        if kind not in _KINDS:
            raise _invalid(f'no "{kind}" subscription in eth namespace: use {", ".join(_KINDS)}')
        left = list(options)
        logs = (left.pop(0) if left else None) or {} if kind == "logs" else {}
        full = kind == "newPendingTransactions" and bool(left) and left.pop(0) is True
        chain = self._chain
        next_at = len(chain.arrivals if kind == "newPendingTransactions" else chain.events)
        subscription = _Subscription(kind, logs, full, has_cursor=bool(left), next=next_at)
        takes_cursor = self._has_cursors() and kind in ("newHeads", "logs")
        if len(left) > takes_cursor:
            raise _invalid(f"too many arguments, want at most {len(options)}")
        if left:
            self._resume(subscription, left[0].get("cursor") if isinstance(left[0], Mapping) else None)
        self._created += 1
        subscription_id = f"0x{self._created:032x}"
        self._all[subscription_id] = subscription
        return subscription_id

    def unsubscribe(self, subscription_id: Any = None) -> bool:
        """Run ``eth_unsubscribe``."""
        return self._all.pop(subscription_id, None) is not None

    def activate(self) -> None:
        """Let new subscriptions send, because the responses to ``eth_subscribe`` were sent."""
        for subscription in self._all.values():
            subscription.active = True

    def take_notifications(self) -> list[str]:
        """Return the notifications of what happened since the last call."""
        taken: list[str] = []
        for subscription_id, one in self._all.items():
            if not one.active or one.kind == "syncing":
                continue
            first, one.first = one.first, []
            news = self._take_transactions(one) if one.kind == "newPendingTransactions" else self._take_events(one)
            for members in [*first, *news]:
                params = {"subscription": subscription_id, **members}
                taken.append(json.dumps({"jsonrpc": "2.0", "method": "eth_subscription", "params": params}))
        return taken

    def _resume(self, subscription: _Subscription, cursor: Any) -> None:
        """Find where a cursor continues: after the newest block that the client has."""
        blocks = self._chain.blocks
        start: Block | None = blocks[-1]
        if cursor is not None:
            hashes = cursor.get("hashes") if isinstance(cursor, Mapping) else None
            if not isinstance(hashes, list) or not 0 < len(hashes) <= _MAX_HASHES:
                raise _invalid("invalid cursor: use null, or { number, hashes } with 1 to 256 hashes")
            by_hash = {block.header["hash"]: block for block in blocks[-_REMEMBERED_BLOCKS - 1 :]}
            start = next((by_hash[one] for one in hashes if one in by_hash), None)
        if start is None:
            raise RpcError(-32001, f"The cursor is too old: it has none of the last {_REMEMBERED_BLOCKS} blocks")
        subscription.first.append(_to_position(start.header["number"], start.header["hash"]))
        for block in blocks[start.number + 1 :]:
            subscription.first += self._to_members(subscription, block)

    def _take_events(self, subscription: _Subscription) -> list[dict[str, Any]]:
        events = self._chain.events[subscription.next :]
        subscription.next += len(events)
        taken: list[dict[str, Any]] = []
        for index, (block, removed) in enumerate(events):
            if not removed:
                taken += self._to_members(subscription, block)
            elif subscription.has_cursor:
                # One position for all blocks that were removed together.
                if not (index + 1 < len(events) and events[index + 1][1]):
                    taken.append(_to_position(hex(block.number - 1), block.header["parentHash"]))
            elif subscription.kind == "logs":
                logs = select_logs(block.logs, subscription.logs)
                taken += [{"result": {**log, "removed": True}} for log in reversed(logs)]
        return taken

    def _to_members(self, subscription: _Subscription, block: Block) -> list[dict[str, Any]]:
        """Return what a subscription gets for a new block: members of ``params``."""
        if subscription.kind == "newHeads":
            return [{"result": {name: value for name, value in block.header.items() if name not in _NOT_IN_HEADS}}]
        logs: Sequence[dict[str, Any]] = [{"result": log} for log in select_logs(block.logs, subscription.logs)]
        subscription.quiet_blocks = 0 if logs else subscription.quiet_blocks + 1
        if not subscription.has_cursor or (not logs and subscription.quiet_blocks < _MAX_QUIET_BLOCKS):
            return [*logs]
        subscription.quiet_blocks = 0
        return [*logs, _to_position(block.header["number"], block.header["hash"])]

    def _take_transactions(self, subscription: _Subscription) -> list[dict[str, Any]]:
        arrivals = self._chain.arrivals[subscription.next :]
        subscription.next += len(arrivals)
        return [{"result": one.to_json(NO_PLACE) if subscription.full else one.hash} for one in arrivals]


def _to_position(number: str, block_hash: str) -> dict[str, Any]:
    return {"position": {"number": number, "hash": block_hash}}


def _invalid(message: str) -> RpcError:
    return RpcError(-32602, message)
