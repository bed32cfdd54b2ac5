"""Reads logs of chains that skip numbers, as Filecoin does."""

from __future__ import annotations

import re
from collections.abc import Callable

from web3.types import LogReceipt

from ..failure.error import KeyrailError
from ..failure.is_null_round import MAX_NULL_ROUNDS, is_null_round
from .query import QuerySteps


def skip_null_rounds(
    read: Callable[[int, int], QuerySteps[list[LogReceipt]]], first: int, last: int
) -> QuerySteps[list[LogReceipt]]:
    """Read the logs of a range, without the numbers at its ends that have no block: nodes of Filecoin reject a range with such an end.

    Args:
        read: Reads the logs of a range.
        first: The first number of the range.
        last: The last one.

    Raises:
        KeyrailError: The failure of the read, unless it names an end of the range as a number without a block.

    """
    skipped = 0
    while first <= last:
        try:
            return (yield from read(first, last))
        except KeyrailError as failure:
            skipped += 1
            if not is_null_round(failure) or skipped > MAX_NULL_ROUNDS:
                raise
            if _names(failure, first):
                first += 1
            elif _names(failure, last):
                last -= 1
            else:
                raise
    return []


def _names(failure: KeyrailError, number: int) -> bool:
    message = str((failure.rpc_error or {}).get("message"))
    return re.search(rf"\b(?:{number}|{hex(number)})\b", message, re.IGNORECASE | re.ASCII) is not None
