"""Decides which results never change. The same rules as in TypeScript: ``packages/core/src/transport/cacheRule.ts``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from ..methods import TABLE

CacheRule: TypeAlias = Callable[[Any, float], bool]
"""Decides whether a result never changes. The second argument is the highest block that was known to be final when the request was sent."""

_CACHED = {name: row for name, row in TABLE.items() if "sdk" in row.get("cached", ())}
# Methods whose result never changes for one provider.
_OF_THE_CHAIN = frozenset(name for name, row in _CACHED.items() if row["final"] == "chain")
# Methods that take a transaction hash and return the block of that transaction.
_BY_TRANSACTION = frozenset(name for name, row in _CACHED.items() if "transaction" in row)
# Methods whose result is about one block, and the position of that block in the params.
_BLOCK_POSITION: dict[str, int] = {
    name: next(row[column] for column in ("block", "blockHash", "range") if column in row)
    for name, row in _CACHED.items()
    if name not in _OF_THE_CHAIN | _BY_TRANSACTION
}
_HASH = re.compile(r"0x[\da-f]{64}", re.IGNORECASE | re.ASCII)
_QUANTITY = re.compile(r"0x[\da-f]{1,13}", re.IGNORECASE | re.ASCII)
# A block tag as the first or last param: the position of the block in all methods that take one, unless it is in an object.
_TAG_FIRST = re.compile(r'\["[a-z]+"[,\]]')
_TAG_LAST = re.compile(r'"[a-z]+"\]\Z')


def parse_block(value: Any) -> float | None:
    """Parse a block number; None for any other value. Nodes return it as a hex quantity, traces as a number."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    return int(value, 16) if isinstance(value, str) and _QUANTITY.fullmatch(value) else None


def names_tag(method: str, params: str) -> bool:
    """Check whether params, as JSON, contain a block tag. Most calls do, and their results are not cached."""
    position = _BLOCK_POSITION.get(method)
    if position == 0:
        return _TAG_FIRST.match(params) is not None
    return position is not None and _TAG_LAST.search(params) is not None


def get_cache_kind(method: str) -> Literal["block", "transaction", "chain"] | None:
    """Return what the result of a method depends on, if it can be immutable at all."""
    if method in _BLOCK_POSITION:
        return "block"
    return "transaction" if method in _BY_TRANSACTION else "chain" if method in _OF_THE_CHAIN else None


def get_cache_rule(method: str, params: str) -> CacheRule | None:
    """Return the rule that decides whether the result of a call may be cached forever; None if no result of it may.

    Results for a tag never are, because tags move. Null and empty lists never are, because a node that is behind returns them too.

    - A block by hash: always. The result stays true if the block is reorganized away. Not with ``requireCanonical``, because the call
      fails then (EIP-1898).
    - A block by number: if it was final before the call was sent.
    - A transaction by hash: if its block was final before the call was sent.

    A result for another block or transaction than the requested one is not cached. Neither is the result of a call with params by name.

    Args:
        method: The method.
        params: Its params as JSON.

    """
    if not params.startswith("["):
        return None
    kind = get_cache_kind(method)
    if kind == "chain":
        return lambda value, _: isinstance(value, str)
    values: list[Any] = json.loads(params)
    position = _BLOCK_POSITION.get(method, 0)
    requested = values[position] if len(values) > position else None
    if kind == "transaction":
        return _create_transaction_rule(requested)
    return _create_block_rule(method, requested)


def _create_transaction_rule(requested: Any) -> CacheRule:
    def fits(item: dict[str, Any], final_block: float) -> bool:
        named = item.get("hash") if item.get("transactionHash") is None else item["transactionHash"]
        number = parse_block(item.get("blockNumber"))
        return _is_same(named, requested) and number is not None and number <= final_block

    return lambda value, final_block: _every(value, lambda item: fits(item, final_block))


def _create_block_rule(method: str, requested: Any) -> CacheRule | None:
    members: dict[str, Any] = requested if isinstance(requested, dict) else {}
    block = next((one for one in (members.get("blockHash"), members.get("blockNumber")) if one is not None), requested)
    by_hash = isinstance(block, str) and _HASH.fullmatch(block) is not None
    number = parse_block(block)
    if members.get("requireCanonical") or (not by_hash and number is None):
        return None
    # A filter has no blockNumber, and a node that ignores it returns logs of the latest block.
    if method == "eth_getLogs" and not by_hash:
        return None

    def fits(item: dict[str, Any]) -> bool:
        # A tracer that gave up returns an error in place of a transaction's trace.
        if method.startswith("debug_"):
            return not item.get("error")
        # An uncle has its own hash and number, not those of the block.
        if method.startswith("eth_getUncle"):
            return True
        first, second = ("blockHash", "hash") if by_hash else ("blockNumber", "number")
        named = item.get(second) if item.get(first) is None else item[first]
        return named is None or (_is_same(named, block) if by_hash else parse_block(named) == number)

    def rule(value: Any, final_block: float) -> bool:
        return (by_hash or (number is not None and number <= final_block)) and _every(value, fits)

    return rule


def _is_same(one: Any, other: Any) -> bool:
    return isinstance(one, str) and isinstance(other, str) and one.lower() == other.lower()


def _every(value: Any, fits: Callable[[dict[str, Any]], bool]) -> bool:
    """Check whether the result is not empty, and all of its entries fit."""
    if isinstance(value, list):
        return bool(value) and all(fits(item if isinstance(item, dict) else {}) for item in value)
    return value is not None and fits(value if isinstance(value, dict) else {})
