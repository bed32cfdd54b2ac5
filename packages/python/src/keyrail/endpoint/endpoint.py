"""One of several endpoints of a provider."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Never

from ..failure.check import check, check_names, check_range, describe
from ..failure.error import KeyrailError
from ..transport.budget import Budget, check_budget
from .create_endpoint import AsyncHeaders, AsyncSecret, Network, PerNetwork

URL_OPTIONS = ("url", "base_url", "rpc_url", "api_key", "network", "chain_id", "jwt", "headers")
"""The options of an endpoint's URL, which a provider with one endpoint takes too."""

_NAMES = (*URL_OPTIONS, "weight", "name", "budget")
_MAX_WEIGHT = 10**6


class Endpoint:
    """One of several endpoints of a provider.

    Its URL options are those of ``KeyrailProvider``. ``network`` and ``chain_id`` of the provider hold for each endpoint without its own.
    The functions of an endpoint may be asynchronous if the provider is.

    Args:
        url: A full URL from the dashboard, or a node's own URL.
        base_url: The URL of an app: calls are sent to ``{base_url}/v2/{api_key}``.
        rpc_url: The RPC URL of an API key: calls are sent to ``{rpc_url}/{api_key}``.
        api_key: The API key, or a function that returns the current one.
        network: The name of the network, such as ``"base-sepolia"``.
        chain_id: The expected chain id, the same for all endpoints.
        jwt: A JSON Web Token, or a function that returns it.
        headers: Extra headers of each request, or a function that returns them.
        weight: Its share of the calls, relative to the others; 0 makes it a spare for when the others fail. Without any weights,
            endpoints are tried in order. Default: 1.
        name: Its name in ``stats()``. Default: its redacted URL.
        budget: Its own limits. Default: those of the provider.
        unknown: Not allowed. Any other option is an error that names the nearest one.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if an option is wrong. URL options are checked when the provider is created.

    Example:
        >>> endpoints = [Endpoint("https://one.example", weight=3), Endpoint("https://two.example", weight=1)]
        >>> provider = KeyrailProvider(endpoints=endpoints)

    """

    def __init__(
        self,
        url: str | None = None,
        *,
        base_url: PerNetwork[str] | None = None,
        rpc_url: PerNetwork[str] | None = None,
        api_key: AsyncSecret | None = None,
        network: Network | None = None,
        chain_id: PerNetwork[int] | None = None,
        jwt: AsyncSecret | None = None,
        headers: AsyncHeaders | None = None,
        weight: float | None = None,
        name: str | None = None,
        budget: Budget | None = None,
        **unknown: Never,
    ) -> None:
        options: dict[str, Any] = {option: value for option, value in locals().items() if option in URL_OPTIONS}
        failure = _find_problem(weight, name, budget, unknown)
        # Error reporters show the variables of frames, and any option may be a misplaced key.
        del url, base_url, rpc_url, api_key, network, chain_id, jwt, headers, unknown
        if failure is not None:
            del options, name, budget
            raise failure
        self.weight = weight
        self.name = name
        self.budget = budget
        # A function, because its variables are not attributes: a debugger page that shows this object does not show the key.
        self._get_url_options: Callable[[], dict[str, Any]] = lambda: options

    def __repr__(self) -> str:
        return "Endpoint(…)" if self.name is None else f"Endpoint(name={self.name!r}, …)"


def _find_problem(weight: Any, name: Any, budget: Any, unknown: dict[str, Any]) -> KeyrailError | None:
    try:
        check_names("an endpoint", unknown, _NAMES)
        check_range("weight", weight, 0, _MAX_WEIGHT)
        check(name is None or isinstance(name, str), f"name of an endpoint must be a string, not {describe(name)}.")
        check_budget(budget)
    except KeyrailError as failure:
        return failure.with_traceback(None)
    return None


def get_url_options(endpoint: Endpoint) -> dict[str, Any]:
    """Return the URL options of an endpoint. They contain the key."""
    return endpoint._get_url_options()
