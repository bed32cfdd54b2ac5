"""Notices responses from the wrong chain."""

from __future__ import annotations

from typing import Any

from ..failure.facts import Facts

LOCAL_CHAIN_IDS = {31337, 1337}
"""The chain ids that local nodes have by default: those of anvil and Hardhat, and of Ganache and geth."""


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
    fork = f". If it is a local fork of chain {chain_id}, set chain_id={actual}" if actual in LOCAL_CHAIN_IDS else ""
    return Facts(kind="wrongNetwork", text=f"the node is on chain {actual}, but chain_id is {chain_id}{fork}")
