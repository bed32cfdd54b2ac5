"""Checks the options of a provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..endpoint.create_endpoint import create_endpoint
from ..endpoint.endpoint import URL_OPTIONS, Endpoint, get_url_options
from ..failure.check import check, check_bool, check_names, describe
from ..failure.error import KeyrailError
from ..observe.create_observer import create_observer
from ..observe.observer import Observer
from .budget import check_budget
from .cache import Cache, check_cache
from .call_settings import CallSettings, create_call_settings
from .connection_settings import create_connection_settings
from .failover import Failover
from .http_provider_options import reject_http_provider_options
from .parsed_endpoint import ParsedEndpoint

_CALL_OPTIONS = ("timeout_ms", "retry", "batch", "max_response_bytes", "max_in_flight", "resends")
_CONNECTION_OPTIONS = ("proxy", "ssl_context")
_ROUTE_OPTIONS = ("endpoints", "failover", "budget", "cache")
_OBSERVER_OPTIONS = ("hooks", "stats", "tracing")
_MAX_ENDPOINTS = 30

OPTION_NAMES = URL_OPTIONS + _CALL_OPTIONS + _CONNECTION_OPTIONS + _ROUTE_OPTIONS + _OBSERVER_OPTIONS
"""The options that are read when a provider is created, and cannot be changed later."""


@dataclass(slots=True, frozen=True)
class ParsedOptions:
    """The checked options of a provider."""

    endpoints: Sequence[ParsedEndpoint]
    failover: Failover | None
    """None for a provider with a single URL."""
    cache: Cache | None
    settings: CallSettings
    observer: Observer | None


def parse_options(
    options: Mapping[str, Any],
    request_cache: Mapping[str, Any],
    positional: Sequence[Any],
    unknown: Mapping[str, Any],
) -> ParsedOptions | KeyrailError:
    """Return the checked options, or the failure if one is wrong.

    The failure is returned and not raised, so that its traceback has no frames that contain the key.

    Args:
        options: The options with the names ``OPTION_NAMES``.
        request_cache: The options of web3.py's request cache.
        positional: The positional arguments after the URL.
        unknown: All other options.

    """
    try:
        reject_http_provider_options(unknown, positional)
        check_names("a provider", unknown, (*OPTION_NAMES, *request_cache))
        check_bool("cache_allowed_requests", request_cache["cache_allowed_requests"])
        endpoints, failover = _parse_endpoints(options)
        check_cache(options["cache"])
        settings = create_call_settings(**{name: options[name] for name in _CALL_OPTIONS})
        redacted_url = endpoints[0].endpoint.redacted_url
        observer = create_observer(redacted_url, **{name: options[name] for name in _OBSERVER_OPTIONS})
    except KeyrailError as failure:
        return failure.with_traceback(None)
    return ParsedOptions(endpoints, failover, options["cache"], settings, observer)


def _parse_endpoints(options: Mapping[str, Any]) -> tuple[list[ParsedEndpoint], Failover | None]:
    """Return the endpoints, and how one is chosen for a call if the option ``endpoints`` is used."""
    given, failover = options["endpoints"], options["failover"]
    check_budget(options["budget"])
    if given is None:
        check(
            failover is None, "failover works only with endpoints. Pass endpoints=[Endpoint(url), …], or leave it out."
        )
        return [_parse_endpoint({name: options[name] for name in URL_OPTIONS}, options)], None
    for name in URL_OPTIONS:
        is_shared = name in ("network", "chain_id")
        check(
            is_shared or options[name] is None, f"{name} cannot be used together with endpoints. Pass it to Endpoint."
        )
    is_list = isinstance(given, Sequence) and all(isinstance(one, Endpoint) for one in given)
    check(is_list, f"endpoints must be a list such as [Endpoint(url), …], not {describe(given)}.")
    check(0 < len(given) <= _MAX_ENDPOINTS, f"endpoints must have 1 to {_MAX_ENDPOINTS} entries, not {len(given)}.")
    check(
        failover is None or isinstance(failover, Failover),
        f"failover must be a Failover object, such as Failover(min_block=True), not {describe(failover)}.",
    )
    check(
        failover is None or failover.order == "given" or not any(one.weight for one in given),
        'order="latency" and weight cannot be used together, except for weight 0. Remove one of them.',
    )
    shared = {name: options[name] for name in ("network", "chain_id")}
    parsed: list[ParsedEndpoint] = []
    for one in given:
        own = {name: value for name, value in get_url_options(one).items() if value is not None}
        parsed.append(_parse_endpoint({**shared, **own}, options, one))
    chains = {one.endpoint.chain_id for one in parsed} - {None}
    check(
        len(chains) < 2,
        f"All endpoints must have the same chain_id, not {' and '.join(map(str, sorted(chains, key=str)))}.",
    )
    return parsed, failover or Failover()


def _parse_endpoint(
    url_options: Mapping[str, Any], options: Mapping[str, Any], one: Endpoint | None = None
) -> ParsedEndpoint:
    endpoint = create_endpoint(**url_options)
    given = {option: options[option] for option in _CONNECTION_OPTIONS}
    connections = create_connection_settings(endpoint.redacted_url, **given)
    if one is None:
        return ParsedEndpoint(endpoint, connections, budget=options["budget"])
    return ParsedEndpoint(endpoint, connections, one.weight, one.name, one.budget or options["budget"])
