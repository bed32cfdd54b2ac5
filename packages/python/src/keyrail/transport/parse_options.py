"""Checks the options of a provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..endpoint.create_endpoint import Endpoint, create_endpoint
from ..failure.check import check_bool, check_names, invalid
from ..failure.error import KeyrailError
from ..observe.create_observer import create_observer
from ..observe.observer import Observer
from .call_settings import CallSettings, create_call_settings
from .connection_settings import ConnectionSettings, create_connection_settings

_ENDPOINT_OPTIONS = ("url", "base_url", "rpc_url", "api_key", "network", "chain_id", "jwt", "headers")
_CALL_OPTIONS = ("timeout_ms", "retry", "batch", "max_response_bytes", "max_in_flight", "resends")
_CONNECTION_OPTIONS = ("proxy", "ssl_context")
_OBSERVER_OPTIONS = ("hooks", "stats")

OPTION_NAMES = _ENDPOINT_OPTIONS + _CALL_OPTIONS + _CONNECTION_OPTIONS + _OBSERVER_OPTIONS
"""The options that are read when a provider is created, and cannot be changed later."""

HTTP_PROVIDER_OPTIONS = {
    "endpoint_uri": "url=",
    "exception_retry_configuration": "retry=",
    "request_kwargs": "timeout_ms=, headers=, proxy= or ssl_context=",
    "session": "headers=, proxy= or ssl_context=",
}
"""Options of web3.py's ``HTTPProvider``, with the options that take their place."""


def describe_http_provider_option(name: str) -> str:
    """Return the message for an option of web3.py's ``HTTPProvider`` that has another name here."""
    return f"{name} is an option of web3.py's HTTP providers. Pass {HTTP_PROVIDER_OPTIONS[name]} instead."


@dataclass(slots=True, frozen=True)
class ParsedOptions:
    """The checked options of a provider."""

    endpoint: Endpoint
    settings: CallSettings
    connections: ConnectionSettings
    observer: Observer | None


def parse_options(
    options: Mapping[str, Any], cache: Mapping[str, Any], unknown: Mapping[str, Any]
) -> ParsedOptions | KeyrailError:
    """Return the checked options, or the failure if one is wrong.

    The failure is returned and not raised, so that its traceback has no frames that contain the key.

    Args:
        options: The options with the names ``OPTION_NAMES``.
        cache: The options of web3.py's request cache.
        unknown: All others.

    """
    try:
        for name in HTTP_PROVIDER_OPTIONS:
            if name in unknown:
                raise invalid(describe_http_provider_option(name))
        check_names("a provider", unknown, (*OPTION_NAMES, *cache))
        check_bool("cache_allowed_requests", cache["cache_allowed_requests"])
        endpoint = create_endpoint(**{name: options[name] for name in _ENDPOINT_OPTIONS})
        settings = create_call_settings(**{name: options[name] for name in _CALL_OPTIONS})
        given = {name: options[name] for name in _CONNECTION_OPTIONS}
        connections = create_connection_settings(endpoint.redacted_url, **given)
        observer = create_observer(endpoint.redacted_url, **{name: options[name] for name in _OBSERVER_OPTIONS})
    except KeyrailError as failure:
        return failure.with_traceback(None)
    return ParsedOptions(endpoint, settings, connections, observer)
