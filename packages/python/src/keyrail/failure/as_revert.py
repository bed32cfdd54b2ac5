"""The error of a revert in the one form that web3.py decodes."""

from __future__ import annotations

import re
from typing import Any

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError

from .error import RpcErrorObject

# Where nodes and proxies put what a contract reverted with, in an error's data.
_PLACES = ("data", "result", "return", "output", "originalError", "error")
_MOST_DEPTH = 4
_BYTES = re.compile(r"(?:reverted )?(0x(?:[\da-f]{2})*)", re.IGNORECASE | re.ASCII)
_BYTES_IN_TEXT = re.compile(r"revert\w*:? (0x(?:[\da-f]{2}){4,})\b", re.IGNORECASE | re.ASCII)
_ERROR_SELECTOR = "0x08c379a0"


def _revert_data(data: Any, depth: int = 0) -> str | None:
    if isinstance(data, str):
        found = _BYTES.fullmatch(data)
        return found[1] if found else None
    if not isinstance(data, dict) or depth >= _MOST_DEPTH:
        return None
    # Ganache once put it under the hash of the transaction.
    for place in (*_PLACES, *(name for name in data if name.startswith("0x"))):
        held = _revert_data(data.get(place), depth + 1)
        if held is not None:
            return held
    return None


def _reason(data: str) -> str | None:
    if not data.lower().startswith(_ERROR_SELECTOR):
        return None
    try:
        (reason,) = decode(["string"], bytes.fromhex(data[len(_ERROR_SELECTOR) :]))
    except (DecodingError, UnicodeDecodeError, ValueError, OverflowError):
        return None
    return str(reason)


def as_revert(error: RpcErrorObject) -> RpcErrorObject:
    """Give code 3, a message that says ``execution reverted``, and the revert's bytes as hex. Nodes have at least four other forms.

    Args:
        error: The error object of a failure of kind ``revert``.

    Returns:
        The same object where it holds no bytes and does not speak of a revert, such as "out of gas".

    """
    message = error.get("message", "")
    in_text = _BYTES_IN_TEXT.search(message)
    data = _revert_data(error.get("data"))
    if data is None and in_text:
        data = in_text[1]
    says_so = re.search("revert", message, re.IGNORECASE) is not None
    if data is None and not says_so:
        return error
    said = message if says_so else "execution reverted"
    # web3.py reads the reason of a message only.
    reason = _reason(data) if data else None
    if reason and reason not in said:
        said = f"execution reverted: {reason}"
    revert: RpcErrorObject = {"code": 3, "message": said}
    if data:
        revert["data"] = data
    return revert
