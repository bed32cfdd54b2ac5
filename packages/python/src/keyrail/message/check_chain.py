"""Notices responses from the wrong chain."""

from __future__ import annotations

from typing import Any

from ..failure.facts import Facts


def find_chain_mismatch(chain_id: int | None, reported: Any) -> Facts | None:
    """Return a failure of kind ``wrongNetwork`` if the node is on another chain than expected, else None.

    Args:
        chain_id: The expected chain id. None accepts every chain.
        reported: What the response says: its ``x-chain-id`` header, or the result of eth_chainId.

    """
    if chain_id is None or not isinstance(reported, (str, int)):
        return None
    try:
        actual = int(reported, 0) if isinstance(reported, str) else reported
    except ValueError:
        return None
    if not actual or actual == chain_id:
        return None
    return Facts(kind="wrongNetwork", text=f"the node is on chain {actual}, but chain_id is {chain_id}")
