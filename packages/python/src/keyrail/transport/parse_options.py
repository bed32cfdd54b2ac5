"""Checks the options of a provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..endpoint.create_endpoint import Endpoint, create_endpoint
from ..failure.check import check_bool, check_names
from ..failure.error import KeyrailError
from .call_settings import CallSettings, create_call_settings

_ENDPOINT_OPTIONS = ("url", "base_url", "rpc_url", "api_key", "network", "chain_id", "jwt")
_CALL_OPTIONS = ("timeout_ms", "retry", "batch", "max_response_bytes", "max_in_flight", "resends")
# Passed on to web3.py's base classes.
_CACHE_OPTIONS = ("cache_allowed_requests", "cacheable_requests", "request_cache_validation_threshold")

OPTION_NAMES = _ENDPOINT_OPTIONS + _CALL_OPTIONS
"""The options that are read when a provider is created, and cannot be changed later."""

HTTP_PROVIDER_NAMES = {"endpoint_uri": "url", "exception_retry_configuration": "retry", "request_kwargs": "timeout_ms"}
"""Options of web3.py's ``HTTPProvider``, with the options that take their place."""


def parse_options(
    positional: tuple[object, ...], options: Mapping[str, Any]
) -> tuple[Endpoint, CallSettings, dict[str, Any]] | KeyrailError:
    """Return the endpoint, the settings of calls and the options of web3.py's request cache, or the failure if an option is wrong.

    The failure is returned and not raised, so that its traceback has no frames that contain the key.
    """
    try:
        check_names("a provider", options, OPTION_NAMES + _CACHE_OPTIONS, HTTP_PROVIDER_NAMES)
        check_bool("cache_allowed_requests", options.get("cache_allowed_requests", False))
        endpoint = create_endpoint(*positional, **{name: options.get(name) for name in _ENDPOINT_OPTIONS})
        settings = create_call_settings(**{name: options[name] for name in _CALL_OPTIONS if name in options})
    except KeyrailError as failure:
        return failure.with_traceback(None)
    return endpoint, settings, {name: options[name] for name in _CACHE_OPTIONS if name in options}
