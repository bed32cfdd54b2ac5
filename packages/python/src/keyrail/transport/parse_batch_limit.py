"""Reads the maximum batch size from the message of a rejection."""

from __future__ import annotations

import re

_NUMBERS = re.compile(
    r"(?:^|[^\w.-])(\d[\d,]*)(?!\w|[.,]\d| ?(?:%|(?:[kmgt]i?b|\w*bytes?|m?s|sec\w*|min\w*)\b))",
    re.IGNORECASE | re.ASCII,
)


def parse_batch_limit(text: str, size: int) -> int | None:
    """Return the largest number below the rejected size that is not a number of bytes or a time; 1 if batches are not supported.

    Args:
        text: The server's message.
        size: The number of calls in the rejected batch.

    Returns:
        None if the message has no such number.

    """
    numbers = [int(digits.replace(",", "")) for digits in _NUMBERS.findall(text[:4_000]) if len(digits) < 20]
    named = [number for number in numbers if 0 < number < size]
    if named:
        return max(named)
    unsupported = re.search("not (support|allow|enabl|avail)|disabled|unsupported", text, re.IGNORECASE)
    return 1 if unsupported else None
