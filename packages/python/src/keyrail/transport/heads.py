"""The heads of the chain at several endpoints, learned from their responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..methods import find_methods
from .steps import Call, now_ms

FRESH_HEAD_MS = 1_000
"""A head that an endpoint reported less than this many milliseconds ago counts as its current head."""

# After this time a lower number than before is believed: the chain was reset, or the earlier number was wrong.
_BELIEVED_MS = 60_000
_MAX_SAFE_INTEGER = 2**53 - 1
_REPORTING_METHODS = find_methods("head", "number", "block", "transaction")


@dataclass(slots=True)
class Head:
    """The head of the chain at one endpoint."""

    number: int = 0
    """The block number that the endpoint last reported as its head. A lower number than before is ignored at first."""
    at: float = float("-inf")
    """When it reported that number, by ``now_ms``."""
    seen: int = 0
    """The highest block that the endpoint is known to hold: its head, or a block with a receipt."""


def parse_block_number(value: Any) -> int:
    """Parse a hex quantity. Returns 0 for any other value."""
    if not isinstance(value, str) or not value.startswith("0x"):
        return 0
    try:
        number = int(value, 16)
    except ValueError:
        return 0
    return number if number <= _MAX_SAFE_INTEGER else 0


def reports_head(method: str) -> bool:
    """Check whether the result of a method contains a block number from which the head can be learned."""
    return method in _REPORTING_METHODS


class Heads:
    """Follows the heads of several endpoints by their responses. Sends no requests.

    Args:
        count: How many endpoints there are.

    """

    def __init__(self, count: int) -> None:
        self._heads = [Head() for _ in range(count)]

    def get(self, at: int) -> Head:
        """Return the head of an endpoint."""
        return self._heads[at]

    def get_highest(self) -> int:
        """Return the highest block that any endpoint is known to hold, except endpoints that were dropped."""
        return max(head.seen for head in self._heads)

    def learn(self, at: int, call: Call, result: Any) -> None:
        """Learn from the result of a call."""
        head = self._heads[at]
        is_number = call.method == "eth_blockNumber"
        members: dict[str, Any] = result if isinstance(result, dict) else {}
        number, mined = members.get("number"), members.get("blockNumber")
        reported = parse_block_number(result if is_number else mined if number is None else number)
        # A block that was requested by its number, or a receipt, shows only that this block exists.
        if not is_number and not ("number" in members and call.params.startswith('["latest"')):
            head.seen = max(head.seen, reported)
            return
        time = now_ms()
        if not reported or (reported < head.number and time - head.at < _BELIEVED_MS):
            return
        head.seen = reported if reported < head.number else max(head.seen, reported)
        head.number = reported
        head.at = time

    def drop(self, at: int) -> None:
        """Forget the head of an endpoint that is on another chain."""
        self._heads[at].number = self._heads[at].seen = 0
