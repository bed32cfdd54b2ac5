"""Checks what a provider is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..address.open_address import Address, open_address
from ..failure.check import check, check_names
from ..failure.error import KeyrailError
from .options import Plan, plan_of

_OF_ADDRESS = ("url", "base_url", "rpc_url", "api_key", "network", "chain_id", "jwt")
_OF_PLAN = ("timeout_ms", "retry", "batch", "max_response_bytes", "max_in_flight", "resends")
# web3.py's base classes take these.
_OF_CACHE = ("cache_allowed_requests", "cacheable_requests", "request_cache_validation_threshold")

OPTION_NAMES = _OF_ADDRESS + _OF_PLAN
"""The options that are read when a provider is created, and cannot be changed later."""

HTTP_PROVIDER_NAMES = {"endpoint_uri": "url", "exception_retry_configuration": "retry", "request_kwargs": "timeout_ms"}
"""Options of web3.py's ``HTTPProvider``, and ours that take their place."""


def opened(bare: tuple[object, ...], options: Mapping[str, Any]) -> tuple[Address, Plan, dict[str, Any]] | KeyrailError:
    """Give the address, how calls travel and the options of web3.py's request cache; or what is wrong with an option.

    The failure comes without the frames that hold the key.
    """
    try:
        check_names("a provider", options, OPTION_NAMES + _OF_CACHE, HTTP_PROVIDER_NAMES)
        allowed = options.get("cache_allowed_requests", False)
        check(isinstance(allowed, bool), "cache_allowed_requests must be True or False")
        address = open_address(*bare, **{name: options.get(name) for name in _OF_ADDRESS})
        plan = plan_of(**{name: options[name] for name in _OF_PLAN if name in options})
    except KeyrailError as failure:
        return failure.with_traceback(None)
    return address, plan, {name: options[name] for name in _OF_CACHE if name in options}
