"""Checks what a provider is given."""

from __future__ import annotations

from typing import Any

from ..address.open_address import Address, open_address
from ..failure.error import KeyrailError
from .options import Plan, plan_of

_OF_ADDRESS = ("url", "base_url", "rpc_url", "api_key", "network", "chain_id", "jwt")


def opened(bare: tuple[object, ...], options: dict[str, Any]) -> tuple[Address, Plan] | KeyrailError:
    """Give the address and how calls travel, or what is wrong with an option: without the frames that hold the key."""
    try:
        address = open_address(*bare, **{name: options[name] for name in _OF_ADDRESS})
        plan = plan_of(**{name: value for name, value in options.items() if name not in _OF_ADDRESS})
    except KeyrailError as refusal:
        return refusal.with_traceback(None)
    return address, plan
