"""The block at which a call reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError
from ..failure.facts import Facts
from ..methods import TABLE, find_methods
from .heads import parse_block_number

_READS = {name: row for name, row in TABLE.items() if row.get("access") == "read"}
# The reads whose params name a block by number or tag, and the position of that param.
_BLOCK_PARAM: dict[str, int] = {name: row["block"] for name, row in _READS.items() if "block" in row}
# The reads with an object that has both ends of a range of blocks, and its position.
_RANGE_PARAM: dict[str, int] = {name: row["range"] for name, row in _READS.items() if "range" in row}
# Methods that return null at blocks that the node has: for an index without a transaction or uncle, for an account that does not exist.
_NULLABLE = find_methods("index", True) | find_methods("null", "answer")


@dataclass(slots=True, frozen=True)
class BlockRead:
    """The block at which a call reads."""

    at_head: bool
    """Whether the call reads at the head or up to it, so that the response of a node that is behind would be out of date."""
    number: int | None
    """The number of the block in the params; None if they hold no number."""
    pin: Callable[[int], str]
    """Returns the params as JSON, with the tag of the head replaced by a block number."""


def read_block(method: str, params: str) -> BlockRead | None:
    """Find out at which block a call reads. Returns None if the method reads at no block, or the params are by name.

    Args:
        method: The method.
        params: Its params as JSON.

    See the Ethereum JSON-RPC specification, "The default block parameter".

    """
    is_range = method in _RANGE_PARAM
    place = _RANGE_PARAM[method] if is_range else _BLOCK_PARAM.get(method)
    if place is None or not params.startswith("["):
        return None
    values: list[Any] = json.loads(params)
    block: Any = values[place] if len(values) > place else None
    # With too few params, the node reports the error.
    if len(values) < place or (is_range and not isinstance(block, dict)):
        return None

    def write(value: Any) -> str:
        return json.dumps([*values[:place], value, *values[place + 1 :]], separators=(",", ":"))

    if is_range:
        if block.get("blockHash"):
            return None
        # Without `fromBlock`, `eth_getLogs` starts at the latest block. For traces, nodes differ.
        ends = [
            end
            for end in ("fromBlock", "toBlock")
            if _is_latest(block.get(end)) and (end == "toBlock" or block.get(end) or method == "eth_getLogs")
        ]
        # At the head even if both ends are numbers: for blocks that a node does not have yet, it returns an empty list.
        log_filter: dict[str, Any] = block
        return BlockRead(True, None, lambda head: write({**log_filter, **dict.fromkeys(ends, hex(head))}))
    is_latest = _is_latest(block)
    # The pending block has no number yet.
    return BlockRead(
        is_latest or block == "pending",
        parse_block_number(block) or None,
        lambda head: write(hex(head)) if is_latest else params,
    )


def _is_latest(block: Any) -> bool:
    return block is None or block == "latest"


def is_behind(method: str, block: BlockRead | None, min_block: int, result: Any) -> bool:
    """Check whether a result shows that the node has not reached a block.

    Args:
        method: The method of the call.
        block: The block at which the call reads, if any.
        min_block: The block that the node must have reached.
        result: The result of the call.

    """
    if method == "eth_blockNumber":
        return parse_block_number(result) < min_block
    if result is not None or block is None or method in _NULLABLE:
        return False
    return block.at_head or (block.number is not None and block.number <= min_block)


def create_lagging_failure(method: str, min_block: int, redacted_url: str) -> KeyrailError:
    """Create the failure of a call at a node that has not reached a block."""
    facts = Facts(kind="lagging", text=f"the node has not reached block {min_block}")
    return create_failure(facts, method=method, redacted_url=redacted_url)
