"""Recognizes the error for a round without a block."""

from __future__ import annotations

from .error import KeyrailError

MAX_NULL_ROUNDS = 64
"""How many numbers in a row may have no block. Otherwise, a server could cause any number of requests."""


def is_null_round(failure: KeyrailError) -> bool:
    """Check whether a node says that there is no block with a number.

    Filecoin has none in a round without a miner. Some of its nodes respond with this error to a request for it, and others with null.
    """
    return "null round" in str((failure.rpc_error or {}).get("message")).lower()
