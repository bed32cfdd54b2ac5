"""How many calls a batch may hold, by the words in which a larger one was refused."""

from __future__ import annotations

import re

_NUMBERS = re.compile(
    r"(?:^|[^\w.-])(\d[\d,]*)(?!\w|[.,]\d| ?(?:%|(?:[kmgt]i?b|\w*bytes?|m?s|sec\w*|min\w*)\b))",
    re.IGNORECASE | re.ASCII,
)


def batch_limit(text: str, size: int) -> int | None:
    """Read the largest number that is below the size refused and counts no bytes or time; 1 where no batches are taken at all.

    Args:
        text: The server's words.
        size: How many calls the refused batch had.

    Returns:
        None where they name no number.

    """
    numbers = [int(digits.replace(",", "")) for digits in _NUMBERS.findall(text[:4_000]) if len(digits) < 20]
    named = [number for number in numbers if 0 < number < size]
    if named:
        return max(named)
    none = re.search("not (support|allow|enabl|avail)|disabled|unsupported", text, re.IGNORECASE)
    return 1 if none else None
