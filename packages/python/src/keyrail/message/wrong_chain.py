"""Tells when an answer comes from another chain than the address was said to lead to."""

from __future__ import annotations

from typing import Any

from ..failure.facts import Facts


def wrong_chain(chain_id: int | None, said: Any) -> Facts | None:
    """Give the facts of a failure of kind ``wrongNetwork``, or None.

    Args:
        chain_id: The chain that is expected; None where none was named: then nothing is wrong.
        said: What the answer says: its ``x-chain-id`` header, or its result where the call was eth_chainId.

    """
    if chain_id is None or not isinstance(said, (str, int)):
        return None
    try:
        seen = int(said, 0) if isinstance(said, str) else said
    except ValueError:
        return None
    if not seen or seen == chain_id:
        return None
    return Facts(kind="wrongNetwork", text=f"the node is on chain {seen}, and chain_id says {chain_id}")
