"""Reads blocks, and what a subscription reports of them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..failure.error import KeyrailError, create_error
from ..failure.is_null_round import is_null_round
from .events import BlockEvent, LogEvent
from .recent_chain import ChainEvent, RecentBlock

Request: TypeAlias = Callable[[str, list[Any]], Awaitable[Any]]
"""Makes a call, and returns the result as the node sent it."""

# Not in a header, so that headers are the same by polling and over a socket.
_WHOLE_BLOCK_MEMBERS = ("transactions", "size", "uncles", "withdrawals", "totalDifficulty")
_QUANTITY = re.compile(r"0x[\da-f]{1,14}", re.IGNORECASE | re.ASCII)
_HASH = re.compile(r"0x[\da-f]{64}", re.IGNORECASE | re.ASCII)


@dataclass(slots=True, frozen=True)
class ChainBlock:
    """A block, with what following the chain needs of it."""

    number: int
    hash: str
    parent_hash: str
    timestamp: int
    header: dict[str, Any]
    """As the node sent it."""

    def to_recent(self) -> RecentBlock:
        """Return what is stored of it."""
        return RecentBlock(self.number, self.hash, self.timestamp)


def malformed(what: str, wanted: str) -> KeyrailError:
    """Create the error for a malformed response."""
    hint = "The node, or a proxy in front of it, returned a response that violates the protocol."
    message = f"{what} is not {wanted}. {hint}"
    return create_error(message, kind="badResponse", source="node", retryable=False, hint=hint)


def missing_block(block: int | str) -> KeyrailError:
    """Create the error for a block that the node does not have, or no longer has."""
    hint = "It may be behind, or the block was replaced."
    return create_error(
        f"The node has no block {block} now. {hint}", kind="lagging", source="node", retryable=True, hint=hint
    )


def parse_number(value: Any, path: str) -> int:
    """Parse a hex quantity of a response."""
    if not isinstance(value, str) or not _QUANTITY.fullmatch(value):
        raise malformed(path, "a hex quantity below 2^53")
    return int(value, 16)


def parse_hash(value: Any, path: str) -> str:
    """Parse a hash of a response."""
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise malformed(path, "0x and 64 hex digits")
    return value


def parse_block(value: Any) -> ChainBlock:
    """Parse a block or a header. Only the members that following the chain needs are checked."""
    members: dict[str, Any] = value if isinstance(value, dict) else {}
    return ChainBlock(
        number=parse_number(members.get("number"), "block.number"),
        hash=parse_hash(members.get("hash"), "block.hash"),
        parent_hash=parse_hash(members.get("parentHash"), "block.parentHash"),
        timestamp=parse_number(members.get("timestamp"), "block.timestamp"),
        header={name: member for name, member in members.items() if name not in _WHOLE_BLOCK_MEMBERS},
    )


def parse_log(value: Any) -> tuple[dict[str, Any], int, int]:
    """Parse a log. Returns it with its block number and index."""
    log: dict[str, Any] = value if isinstance(value, dict) else {}
    parse_hash(log.get("blockHash"), "log.blockHash")
    number = parse_number(log.get("blockNumber"), "log.blockNumber")
    return log, number, parse_number(log.get("logIndex"), "log.logIndex")


class ChainSource:
    """Reads the chain for a subscription to blocks or logs.

    Logs are read by the block's hash (EIP-234): a response belongs to that block or fails. By number, a node that is behind, or on
    another branch, would omit logs without an error.

    Args:
        request: Makes calls.
        logs: The filter of a subscription to logs; None for blocks.

    """

    def __init__(self, request: Request, logs: Mapping[str, Any] | None) -> None:
        self._request = request
        self.logs = logs

    async def read(self, block: int | str) -> ChainBlock:
        """Read a block that the node must have, by number, tag or hash.

        Raises:
            KeyrailError: With kind ``lagging`` if the node has none.

        """
        found = await self.find(block)
        if found is None:
            raise missing_block(block)
        return found

    async def find(self, block: int | str) -> ChainBlock | None:
        """Read a block by number, tag or hash. Return None if the node has none."""
        by_hash = isinstance(block, str) and len(block) == 66
        method = "eth_getBlockByHash" if by_hash else "eth_getBlockByNumber"
        try:
            value = await self._request(method, [hex(block) if isinstance(block, int) else block, False])
        except KeyrailError as failure:
            if not is_null_round(failure):
                raise
            return None
        return None if value is None else parse_block(value)

    async def load(self, block: ChainBlock) -> Sequence[ChainEvent]:
        """Load the events of a block, in order."""
        if self.logs is None:
            return [BlockEvent(block.header)]
        value = await self._request("eth_getLogs", [{**self.logs, "blockHash": block.hash}])
        if not isinstance(value, list):
            raise malformed("logs", "an array")
        logs = [parse_log(one) for one in value]
        if any(log["blockHash"] != block.hash for log, _, _ in logs):
            raise malformed("logs", "limited to the requested blocks")
        return [LogEvent(log) for log, _, _ in sorted(logs, key=lambda one: one[2])]
