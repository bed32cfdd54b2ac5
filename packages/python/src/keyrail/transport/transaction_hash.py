"""The hash that a signed transaction will have in the chain."""

from __future__ import annotations

import re
from typing import Any

from eth_utils.crypto import keccak

from ..failure.check import check

_RAW = re.compile(r"0x[0-7c-fC-F][\da-fA-F]{3,}", re.ASCII)
_LAST_KNOWN_TYPE = 4
_BLOBS_TYPE = 3
_LIST = 0xC0
_LONG_LIST = 0xF8


def transaction_hash(raw: Any) -> str | None:
    """Compute the hash; None for a type of transaction whose rule is not known: chains have types of their own.

    Args:
        raw: What goes into ``eth_sendRawTransaction``.

    Raises:
        KeyrailError: Of kind ``invalidRequest`` where it is no transaction.

    See EIP-2718 (types), EIP-4844 and EIP-7594 (blobs travel with the transaction and are not hashed), EIP-7702.

    """
    check(
        isinstance(raw, str) and len(raw) % 2 == 0 and _RAW.fullmatch(raw),
        "a raw transaction must be a signed transaction as hex, such as 0x02f8…",
    )
    data = bytes.fromhex(raw[2:])
    if _LAST_KNOWN_TYPE < data[0] < _LIST:
        return None
    return "0x" + keccak(_without_blobs(data) if data[0] == _BLOBS_TYPE else data).hex()


def _head_of(data: bytes, at: int) -> int:
    # RLP: up to 55 bytes it is one byte, else the length follows in so many.
    return 1 if data[at] < _LONG_LIST else 1 + data[at] - (_LONG_LIST - 1)


def _without_blobs(data: bytes) -> bytes:
    """With blobs, the transaction is the first of a list, itself a list; without, the list begins with the chain id, which is none."""
    first = 1 + _head_of(data, 1)
    if first >= len(data) or data[first] < _LIST:
        return data
    head = _head_of(data, first)
    length = data[first] - _LIST if head == 1 else int.from_bytes(data[first + 1 : first + head], "big")
    end = first + head + length
    check(end <= len(data), "a raw transaction was cut off")
    return b"\x03" + data[first:end]
