"""The options of web3.py's HTTP providers that have another name here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..failure.check import invalid

HTTP_PROVIDER_OPTIONS = {
    "endpoint_uri": "url=",
    "exception_retry_configuration": "retry=",
    "request_kwargs": "timeout_ms=, headers=, proxy= or ssl_context=",
    "session": "headers=, proxy= or ssl_context=",
}
"""Options of web3.py's ``HTTPProvider``, with the options that take their place."""

# Those of requests and of aiohttp.
_REQUEST_KWARGS = {
    "timeout": "timeout_ms=",
    "headers": "headers=",
    "auth": "headers={'authorization': …}",
    "proxies": "proxy=",
    "proxy": "proxy=",
    "verify": "ssl_context=",
    "cert": "ssl_context=",
    "ssl": "ssl_context=",
}


def reject_http_provider_options(given: Mapping[str, Any], positional: Sequence[Any] = ()) -> None:
    """Reject options of web3.py's HTTP providers with the options that take their place.

    Args:
        given: The options with names that no option of the provider has.
        positional: The positional arguments after the URL. web3.py's providers take ``request_kwargs`` there.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if there are any. The message shows no value except a timeout.

    """
    old = {name: given[name] for name in HTTP_PROVIDER_OPTIONS if name in given}
    if positional:
        if not isinstance(positional[0], Mapping):
            raise invalid("Only the URL can be positional. Pass the other options by name, such as api_key=.")
        old = {"request_kwargs": positional[0], **old}
    if not old:
        return
    replacements = list(dict.fromkeys(one for name, value in old.items() for one in _replace(name, value)))
    verb = "is an option" if len(old) == 1 else "are options"
    raise invalid(f"{_join(list(old))} {verb} of web3.py's HTTP providers. Pass {_join(replacements)} instead.")


def _join(names: Sequence[str]) -> str:
    """Join names as a sentence does: ``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _replace(name: str, value: Any) -> list[str]:
    """Return the options that take the place of an option with this value."""
    if name == "exception_retry_configuration" and value is None:
        return ["retry=False"]
    if name != "request_kwargs" or not isinstance(value, Mapping) or not set(value) <= set(_REQUEST_KWARGS):
        return [HTTP_PROVIDER_OPTIONS[name]]
    return [_replace_request_argument(*one) for one in value.items()] or [HTTP_PROVIDER_OPTIONS[name]]


def _replace_request_argument(name: str, value: Any) -> str:
    is_seconds = name == "timeout" and isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"timeout_ms={round(value * 1_000):_}" if is_seconds else _REQUEST_KWARGS[name]
