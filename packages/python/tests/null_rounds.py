"""Gives a chain numbers with gaps, as Filecoin has: two after the third block, and one after the fifth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Respond = Callable[[str, Any], Any]
MISSING = (4, 5, 8)
NUMBERS = ("number", "blockNumber")
ENDS = ("fromBlock", "toBlock")
BY_NUMBER = ("eth_getBlockByNumber", "eth_getLogs")


def to_round(index: int) -> int:
    """Return the number of the block at an index."""
    return index + (2 if index > 3 else 0) + (1 if index > 5 else 0)


def add_null_rounds(respond: Respond, respond_to_missing: Callable[[str, str], Any]) -> Respond:
    """Renumber the blocks of a chain.

    ``respond_to_missing`` gets the method and the message of the error, and returns or raises what a node responds to a request for a
    number without a block.
    """

    def renumber(value: Any) -> Any:
        if isinstance(value, list):
            return [renumber(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {name: hex(to_round(int(one, 16))) if name in NUMBERS else one for name, one in value.items()}

    def respond_with_rounds(method: str, params: Any) -> Any:
        given: Any = params[0] if params else None
        ends = [given] if isinstance(given, str) else [given[name] for name in ENDS if name in given] if given else []
        rounds = [int(one, 16) for one in ends if one.startswith("0x")] if method in BY_NUMBER else []
        for number in rounds:
            if number in MISSING:
                return respond_to_missing(method, f"requested epoch was a null round ({number})")
        own = [hex(number - sum(one < number for one in MISSING)) for number in rounds]
        if own and isinstance(given, str):
            params = [own[0], *params[1:]]
        elif own:
            params = [{**given, **dict(zip(ENDS, own, strict=True))}]
        if method == "eth_blockNumber":
            return hex(to_round(int(respond(method, params), 16)))
        return renumber(respond(method, params))

    return respond_with_rounds
