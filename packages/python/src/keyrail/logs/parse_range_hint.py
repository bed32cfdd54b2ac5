"""Reads the accepted range of blocks from the message of a rejection."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..failure.error_data import get_error_text

_FLAGS = re.IGNORECASE | re.ASCII
_BLOCK = r"(0x[\da-f]+|\d+)"
_COUNT = r"(0x[\da-f]+|\d[\d,_]*(?:\.\d+)?\s?[km]?)\b"
_SUGGESTION = re.compile(rf"(?:should work|try with)[^\d[]{{0,40}}\[?\s*{_BLOCK}\s*(?:,|-|\bto\b)\s*{_BLOCK}", _FLAGS)
_CAPS = [
    re.compile(pattern, _FLAGS)
    for pattern in (
        # "up to a 500 block range", "limited to 0 - 10000 blocks range", "a range of 2000 blocks"
        rf"(?:up to|limited to)(?: an?)?(?: 0 ?-)? {_COUNT}[- ]?(?:blocks?)? ?range",
        # "ranges over 10000 blocks", "block range greater than 2000 max"
        rf"(?:ranges?|blocks) (?:over|above|beyond|(?:greater|larger|more|wider) than) {_COUNT}",
        # "maximum [from, to] blocks distance: 10000"
        rf"distance:? {_COUNT}",
        # "max block range 5000", "maximum is set to 2048", "max allowed range: 10001 > 10000"
        r"\bmax(?:imum)?(?: (?:allowed|blocks?|range|limit|number|of|requested|is|are|set|to))*\W{0,3}(?:\d+ > )?"
        rf"{_COUNT}(?! ?(?:results|logs))",
        # "range is limited to 1000", "range limit: 1000"
        rf"range (?:limit|is limited)\D{{0,6}}{_COUNT}",
        # "limit the query to at most 1000 blocks"
        rf"(?:at most|no more than|less than|limited to) {_COUNT} blocks",
        # "query must be smaller than size 1024"
        rf"smaller than size {_COUNT}",
        # "block range too large, 10000 max"
        rf"range\D{{0,30}}{_COUNT} max\b",
    )
]
_MAX_TEXT_LENGTH = 1_000
_MAX_BLOCK = 2**53


@dataclass(slots=True, frozen=True)
class RangeHint:
    """What the message says. If it says nothing, the caller halves the range."""

    max_blocks: int | None = None
    """The maximum number of blocks in a request."""
    from_block: int | None = None
    to_block: int | None = None
    """The first and last block of a suggested range."""
    too_many_addresses: bool = False
    """Whether the filter has too many addresses. A smaller range does not fix that."""


def _parse_count(text: str) -> int:
    last = text[-1].lower()
    if text[:2].lower() == "0x":
        return min(int(text, 16), _MAX_BLOCK)
    scale = 1_000 if last == "k" else 1_000_000 if last == "m" else 1
    return int(min(float(re.sub(r"[,_\s]|[kmKM]\Z", "", text)) * scale, _MAX_BLOCK))


def _parse_block(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"0x[\da-f]+|\d+", value, _FLAGS) and len(value) < 20:
        value = int(value, 16) if value[:2].lower() == "0x" else int(value)
    whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_BLOCK
    return value if whole else None


def parse_range_hint(message: str, data: Any = None) -> RangeHint:
    """Read what a rejection says about the accepted range. Every provider words it differently.

    Args:
        message: The message of the JSON-RPC error.
        data: The data of the JSON-RPC error.

    """
    # Some gateways have a message of their own and forward the error of the node in the data.
    texts = [text[:_MAX_TEXT_LENGTH] for text in (message, get_error_text({"data": data}))]
    if any(map(_limits_addresses, texts)) and not any(re.search(r"\brange|block", text, _FLAGS) for text in texts):
        return RangeHint(too_many_addresses=True)
    members: dict[str, Any] = data if isinstance(data, dict) else {}
    found = next(filter(None, map(_SUGGESTION.search, texts)), None)
    first = _parse_block(found[1] if found else members.get("from"))
    last = _parse_block(found[2] if found else members.get("to"))
    if first is None or last is None or first > last:
        first = last = None
    # "up to a 2K block range and no limit on the response size, or any block range with a cap of 10K logs" names no cap.
    limits = [text for text in texts if not re.search("any block range", text, _FLAGS)]
    cap = next((match[1] for text in limits for match in (pattern.search(text) for pattern in _CAPS) if match), None)
    blocks = _parse_count(cap) if cap else 0
    return RangeHint(max_blocks=blocks if blocks > 0 else None, from_block=first, to_block=last)


def _limits_addresses(text: str) -> bool:
    # "Please specify an address" asks for one: a smaller range may help, and fewer addresses do not.
    if not re.search("address", text, _FLAGS):
        return False
    return re.search("too many|less|fewer|more than|number of|exceed|max|limit|up to", text, _FLAGS) is not None
