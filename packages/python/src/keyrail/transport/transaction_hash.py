"""The hash of a signed transaction."""

from __future__ import annotations

import re
from typing import Any

from eth_utils.crypto import keccak

from ..failure.check import check, describe

_RAW = re.compile(r"0x[0-7c-fC-F][\da-fA-F]{3,}", re.ASCII)
_ZKSYNC_TYPE = 0x71
_BLOBS_TYPE = 3
# The last type that the specification has. A legacy transaction starts with a list.
_LAST_TYPE = 4
_LIST = 0xC0
_LONG_LIST = 0xF8


def compute_transaction_hash(raw: Any) -> str | None:
    """Compute the hash of a signed transaction: that of its bytes. Returns None for ZKsync's type 0x71, which is hashed by EIP-712.

    Args:
        raw: The parameter of ``eth_sendRawTransaction``.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if it is not a transaction.

    See EIP-2718 (types), EIP-4844 and EIP-7594 (blobs are sent with the transaction and are not part of the hash), EIP-7702.

    """
    check(isinstance(raw, str), f"The transaction must be signed and in hex, such as 0x02f8…, not {describe(raw)}.")
    check(len(raw) % 2 == 0 and _RAW.fullmatch(raw), "The transaction must be signed and in hex, such as 0x02f8….")
    data = bytes.fromhex(raw[2:])
    if data[0] == _ZKSYNC_TYPE:
        return None
    return "0x" + keccak(_without_blobs(data) if data[0] == _BLOBS_TYPE else data).hex()


def has_own_type(raw: str) -> bool:
    """Whether a transaction is of a type that a single chain has, which may hash it in its own way."""
    return _LAST_TYPE < int(raw[2:4], 16) < _LIST


def _get_header_length(data: bytes, at: int) -> int:
    # RLP: one byte for up to 55 bytes of content, else one byte and the length.
    return 1 if data[at] < _LONG_LIST else 1 + data[at] - (_LONG_LIST - 1)


def _without_blobs(data: bytes) -> bytes:
    """Remove the blobs. With blobs, the first entry of the list is the transaction, a list; without, it is the chain id, a number."""
    first = 1 + _get_header_length(data, 1)
    if first >= len(data) or data[first] < _LIST:
        return data
    header_length = _get_header_length(data, first)
    length = (
        data[first] - _LIST if header_length == 1 else int.from_bytes(data[first + 1 : first + header_length], "big")
    )
    end = first + header_length + length
    check(end <= len(data), f"The transaction is incomplete: {end:,} bytes are expected, but there are {len(data):,}.")
    return b"\x03" + data[first:end]
