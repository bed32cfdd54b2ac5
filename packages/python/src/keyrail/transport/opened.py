"""Checks what a provider is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..address.open_address import Address, open_address
from ..failure.check import check_names
from ..failure.error import KeyrailError
from .options import Plan, plan_of

_OF_ADDRESS = ("url", "base_url", "rpc_url", "api_key", "network", "chain_id", "jwt")
_OF_PLAN = ("timeout_ms", "retry", "batch", "max_response_bytes", "max_in_flight", "resends")


def opened(bare: tuple[object, ...], options: Mapping[str, Any]) -> tuple[Address, Plan] | KeyrailError:
    """Give the address and how calls travel, or what is wrong with an option: without the frames that hold the key."""
    try:
        check_names("a provider", options, _OF_ADDRESS + _OF_PLAN)
        address = open_address(*bare, **{name: options.get(name) for name in _OF_ADDRESS})
        plan = plan_of(**{name: options[name] for name in _OF_PLAN if name in options})
    except KeyrailError as refusal:
        return refusal.with_traceback(None)
    return address, plan
