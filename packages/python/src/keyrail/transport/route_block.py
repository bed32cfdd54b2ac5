"""The block at which a call reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError
from ..failure.facts import Facts
from .heads import parse_block_number

# The methods whose params name a block by number or tag, and the position of that param.
_BLOCK_PARAM = {
    "debug_getRawBlock": 0,
    "debug_getRawBlockAccessList": 0,
    "debug_getRawHeader": 0,
    "debug_getRawReceipts": 0,
    "debug_traceBlockByNumber": 0,
    "eth_getBlockAccessList": 0,
    "eth_getBlockByNumber": 0,
    "eth_getBlockReceipts": 0,
    "eth_getBlockTransactionCountByNumber": 0,
    "eth_getHeaderByNumber": 0,
    "eth_getLogs": 0,
    "eth_getRawTransactionByBlockNumberAndIndex": 0,
    "eth_getTransactionByBlockNumberAndIndex": 0,
    "eth_getUncleByBlockNumberAndIndex": 0,
    "eth_getUncleCountByBlockNumber": 0,
    "trace_block": 0,
    "trace_replayBlockTransactions": 0,
    "debug_traceCall": 1,
    "eth_call": 1,
    "eth_createAccessList": 1,
    "eth_estimateGas": 1,
    "eth_feeHistory": 1,
    "eth_getAccount": 1,
    "eth_getAccountInfo": 1,
    "eth_getBalance": 1,
    "eth_getCode": 1,
    "eth_getStorageValues": 1,
    "eth_getTransactionCount": 1,
    "eth_simulateV1": 1,
    "trace_callMany": 1,
    "eth_getProof": 2,
    "eth_getStorageAt": 2,
    "trace_call": 2,
}
# The methods of this table that take the index of a transaction or uncle in the block.
_METHODS_WITH_INDEX = frozenset(
    {
        "eth_getRawTransactionByBlockNumberAndIndex",
        "eth_getTransactionByBlockNumberAndIndex",
        "eth_getUncleByBlockNumberAndIndex",
    }
)


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
    place = _BLOCK_PARAM.get(method)
    if place is None or not params.startswith("["):
        return None
    values: list[Any] = json.loads(params)
    is_logs = method == "eth_getLogs"
    # With too few params, the node reports the error.
    if len(values) < place or (is_logs and not (values and isinstance(values[0], dict))):
        return None
    block: Any = values[place] if len(values) > place else None

    def write(value: Any) -> str:
        return json.dumps([*values[:place], value, *values[place + 1 :]], separators=(",", ":"))

    if is_logs:
        if block.get("blockHash"):
            return None
        ends = [end for end in ("fromBlock", "toBlock") if _is_latest(block.get(end))]
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
    # The result for an index is also null if the block has no transaction or uncle at that index.
    if result is not None or block is None or method in _METHODS_WITH_INDEX:
        return False
    return block.at_head or (block.number is not None and block.number <= min_block)


def create_lagging_failure(method: str, min_block: int, redacted_url: str) -> KeyrailError:
    """Create the failure of a call at a node that has not reached a block."""
    facts = Facts(kind="lagging", text=f"the node has not reached block {min_block}")
    return create_failure(facts, method=method, redacted_url=redacted_url)
