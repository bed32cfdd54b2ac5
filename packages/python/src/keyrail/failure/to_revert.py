"""Reverts in the form that web3.py decodes."""

from __future__ import annotations

import re
from typing import Any

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError

from .error import RpcErrorObject

# Members of an error's data in which nodes and proxies put the revert data.
_PLACES = ("data", "result", "return", "output", "originalError", "error")
_MAX_DEPTH = 4
_BYTES = re.compile(r"(?:reverted )?(0x(?:[\da-f]{2})*)", re.IGNORECASE | re.ASCII)
# The words after "revert" are short, and with any length this would take quadratic time.
_BYTES_IN_TEXT = re.compile(r"revert\w{0,20}:? (0x(?:[\da-f]{2}){4,})\b", re.IGNORECASE | re.ASCII)
_ERROR_SELECTOR = "0x08c379a0"


def _find_revert_data(data: Any, depth: int = 0) -> str | None:
    if isinstance(data, str):
        found = _BYTES.fullmatch(data)
        return found[1] if found else None
    if not isinstance(data, dict) or depth >= _MAX_DEPTH:
        return None
    # Old versions of Ganache put it under the transaction hash.
    for place in (*_PLACES, *(name for name in data if name.startswith("0x"))):
        nested = _find_revert_data(data.get(place), depth + 1)
        if nested is not None:
            return nested
    return None


def _decode_reason(data: str) -> str | None:
    if not data.lower().startswith(_ERROR_SELECTOR):
        return None
    try:
        (reason,) = decode(["string"], bytes.fromhex(data[len(_ERROR_SELECTOR) :]))
    except (DecodingError, UnicodeDecodeError, ValueError, OverflowError):
        return None
    return str(reason)


def to_revert(error: RpcErrorObject) -> RpcErrorObject:
    """Convert a revert error to code 3, a message with ``execution reverted``, and the revert data as hex. Nodes use many other forms.

    Args:
        error: The JSON-RPC error of a failure of kind ``revert``.

    Returns:
        The same object if it has no revert data and does not mention a revert, such as "out of gas".

    """
    message = error.get("message", "")
    in_text = _BYTES_IN_TEXT.search(message)
    data = _find_revert_data(error.get("data"))
    if data is None and in_text:
        data = in_text[1]
    mentions_revert = re.search("revert", message, re.IGNORECASE) is not None
    if data is None and not mentions_revert:
        return error
    text = message if mentions_revert else "execution reverted"
    # web3.py reads the reason from the message only.
    reason = _decode_reason(data) if data else None
    if reason and reason not in text:
        text = f"execution reverted: {reason}"
    revert: RpcErrorObject = {"code": 3, "message": text}
    if data:
        revert["data"] = data
    return revert
