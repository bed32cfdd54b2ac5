"""Checks the URL options and separates what may be printed from the secrets."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote

from ..failure.check import check, describe, invalid
from .request_headers import check_request_headers, find_header_secrets

T = TypeVar("T")

Network: TypeAlias = str
"""The name of a network, such as ``"base-sepolia"``: lower-case letters, digits and inner hyphens, at most 63 characters.

It replaces ``{network}`` in a URL."""

PerNetwork: TypeAlias = T | Mapping[str, T]
"""One value, or a dict with one value for each network. A dict requires ``network``."""

Secret: TypeAlias = str | Callable[[], str]
"""A secret, or a function that returns the current one. It is called for each attempt, so keys rotate without a restart."""

Headers: TypeAlias = Mapping[str, str] | Callable[[], Mapping[str, str]]
"""Extra request headers by name, or a function that returns them. It is called for each attempt."""

AsyncHeaders: TypeAlias = Mapping[str, str] | Callable[[], Mapping[str, str] | Awaitable[Mapping[str, str]]]
"""Extra request headers by name, or a function, which may be asynchronous, that returns them. It is called for each attempt."""

AsyncSecret: TypeAlias = str | Callable[[], str | Awaitable[str]]
"""A secret, or a function, which may be asynchronous, that returns the current one. It is called for each attempt."""


@dataclass(slots=True)
class ResolvedEndpoint:
    """An endpoint with the secrets of one attempt. Never stored where a caller can reach it."""

    url: str = field(repr=False)
    headers: dict[str, str] = field(repr=False)
    """The request headers, with their names in lower case."""
    secrets: tuple[str, ...] = field(repr=False)
    """The texts to mask in everything that is printed."""
    redacted_url: str = ""


@dataclass(slots=True)
class CheckedEndpoint:
    """An endpoint whose options are valid. Only ``resolve`` has access to the key."""

    redacted_url: str
    """The URL without secrets, as far as it is known before the first attempt."""
    chain_id: int | None
    resolve: Callable[[], Generator[Any, Any, ResolvedEndpoint]] = field(repr=False)
    """Returns the endpoint for one attempt. Yields the awaitable that an asynchronous key function returned."""


# Scheme, user, password, host with port, and path with query. Stricter than URLs may be, so that no secret can be part of the
# redacted URL.
_PARTS = re.compile(
    r"(https?://)(?:([^/?#@:\\]*):?([^/?#@\\]*)@)?((?:\[[\da-f:.]+\]|[^\s\0-\x1f\x7f/?#@\\:;%&=\[\]{}]+)(?::\d{1,5})?)"
    r"((?:[/?][^#@\\\s{}]*)?)(?:#.*)?",
    re.IGNORECASE | re.ASCII,
)
# The characters of a path segment, without escapes: RFC 3986 section 3.3. From & to . are &'()*+,-.
_SECRET = re.compile(r"[\w!$&-.:;=@~]+", re.ASCII)
# A key of Keyrail's service as the last segment of a URL; if there is no key elsewhere, one of any service.
_OUR_KEY_AT_END = re.compile(r"/kr_\w+\Z", re.ASCII)
_KEY_AT_END = re.compile(r"/(?:kr_\w+|\w{20,})\Z", re.ASCII)
# Longer schemes are not shown, because they may be part of a secret.
_SCHEME = re.compile(r"[a-z][a-z+.-]{0,7}://", re.IGNORECASE | re.ASCII)
# A DNS label, as the service names its networks: safe in one segment of a URL's path, and unlike most keys.
_NETWORK = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
# The part of a URL that the name of the network replaces.
_PLACEHOLDER = "{network}"
# Longer names are not shown: they may be a misplaced key.
_MAX_SHOWN_LENGTH = 24
_MAX_SHOWN_NAMES = 20
_MAX_SECRETS = 32
# The last four characters of shorter secrets are not shown.
_MIN_SHOWN_LENGTH = 16
# Shorter parts of a URL are not masked, because they are common words.
_MIN_MASKED_LENGTH = 8
_MAX_URL_LENGTH = 10_000
_CHECK_VARIABLE = "If it comes from an environment variable, check that it is set."


def _last_four(secret: Any) -> str:
    return "…" + secret[-4:] if isinstance(secret, str) and len(secret) >= _MIN_SHOWN_LENGTH else "…"


def _verify(name: str, secret: Any, url_name: str, url: str) -> str:
    check(secret and isinstance(secret, str), f"{name} is missing or empty. {_CHECK_VARIABLE}")
    check(
        name == "jwt" or "/" not in secret,
        f'{name} contains "/". If you copied a full URL, pass it as url instead, without {name}.',
    )
    check(_SECRET.fullmatch(secret), f"{name} contains white space or another invalid character. Copy it again.")
    check(
        f"/{secret}/" not in url, f"{name} is already part of {url_name}. Remove it there, or pass the full URL as url."
    )
    # ``str`` would return the name of a member of an enum of strings.
    return str.__str__(secret)


def _shown(name: object) -> str:
    return str(name) if len(str(name)) <= _MAX_SHOWN_LENGTH else "…"


def _select_network(option: str, value: Any, network: str | None) -> Any:
    """Select the value of a network from a dict. Any other value is returned unchanged."""
    if not isinstance(value, Mapping) or not value:
        return value
    names = ", ".join(map(_shown, list(value)[:_MAX_SHOWN_NAMES]))
    if len(value) > _MAX_SHOWN_NAMES:
        names += ", …"
    check(network is not None, f"{option} is a dict of networks. Pass network, one of {names}.")
    check(network in value, f'Unknown network "{_shown(network)}". {option} has {names}.')
    return value[network]


def _select_url(option: str, value: Any, network: str | None) -> Any:
    """Select the URL of a network from a dict, and replace ``{network}`` in it with the name. A full ``url`` is never a dict."""
    url = value if option == "url" else _select_network(option, value, network)
    if not isinstance(url, str) or _PLACEHOLDER not in url:
        return url
    if network is None:
        raise invalid(f'{option} contains {_PLACEHOLDER}. Pass network, such as "sepolia".')
    return url.replace(_PLACEHOLDER, network)


def _describe_url_problem(name: str, given: Any, network: Any) -> str:
    """Describe what is wrong with a URL without showing it, because it may contain the key."""
    if given is None:
        return f'{name} has no URL for network "{network}". Add one, or pass another network.'
    if not isinstance(given, str):
        return f"{name} must be a string such as https://host/path, not {describe(given)}."
    if not given.strip():
        return f"{name} is empty. {_CHECK_VARIABLE}"
    if any(char.isspace() for char in given):
        return f"{name} contains white space. Copy it again."
    scheme = _SCHEME.match(given)
    if scheme is None:
        return f"{name} has no scheme. Start it with https:// or http://."
    if scheme[0].lower() not in ("http://", "https://"):
        return f"{name} starts with {scheme[0]}, which is not supported. Use https:// or http://."
    if len(given) >= _MAX_URL_LENGTH:
        return f"{name} has {len(given):,} characters, but must have fewer than {_MAX_URL_LENGTH:,}. Copy it again."
    if "{" in given or "}" in given:
        return f'{name} contains "{{" or "}}". The only placeholder is {_PLACEHOLDER}: check its spelling.'
    return f"{name} is not a valid URL. Check its host, port and credentials; it should look like https://host/path."


def _check_base_url(name: str, url: str, api_key: Any) -> None:
    """Reject parts of a URL after which a key cannot be appended."""
    alternative = "or pass the full URL as url"
    check("@" not in url, f"{name} contains credentials (user:password@). Remove them, {alternative}.")
    check("?" not in url, f"{name} contains a query (?…). Remove it, {alternative}.")
    check("#" not in url, f"{name} contains a fragment (#…). Remove it.")
    check(not url.endswith("/"), f'{name} ends with "/". Remove the slash.')
    check(
        name != "base_url" or not url.endswith("/v2"),
        f'{name} ends with "/v2", which is added to it. Remove it, {alternative}.',
    )
    check(
        not (_OUR_KEY_AT_END if api_key else _KEY_AT_END).search(url),
        f"{name} ends with a key, so it is a full URL. Pass it as url, without api_key.",
    )


def create_endpoint(
    *,
    url: Any = None,
    base_url: Any = None,
    rpc_url: Any = None,
    api_key: Any = None,
    network: Any = None,
    chain_id: Any = None,
    jwt: Any = None,
    headers: Any = None,
) -> CheckedEndpoint:
    """Check the options of an endpoint: ``{base_url}/v2/{api_key}``, ``{rpc_url}/{api_key}``, or a full ``url``.

    Raises:
        KeyrailError: With kind ``invalidRequest``. The message names the option and how to fix it.

    """
    urls = {
        name: value for name, value in (("url", url), ("base_url", base_url), ("rpc_url", rpc_url)) if value is not None
    }
    check(urls, f"The URL is missing. Pass url, or base_url or rpc_url with api_key. {_CHECK_VARIABLE}")
    check(len(urls) == 1, f"{' and '.join(urls)} cannot be used together. Pass only one of them.")
    is_full = "url" in urls
    check(
        not (is_full and api_key),
        "url and api_key cannot be used together. Pass the full URL with the key as url, or base_url or rpc_url with api_key.",
    )
    ((name, value),) = urls.items()

    check(
        network is None or (isinstance(network, str) and _NETWORK.fullmatch(network)),
        'network must be a name such as "sepolia": lower-case letters, digits and hyphens, at most 63 characters.',
    )
    chain = _select_network("chain_id", chain_id, network)
    check(
        chain_id is None or (isinstance(chain, int) and not isinstance(chain, bool) and 0 < chain < 2**53),
        f"chain_id must be a positive whole number, not {describe(chain)}.",
    )
    start = _select_url(name, value, network)
    parts = _PARTS.fullmatch(start) if isinstance(start, str) and len(start) < _MAX_URL_LENGTH else None
    if parts is None or any(char.isspace() for char in start.partition("#")[0]):
        raise invalid(_describe_url_problem(name, start, network))
    scheme, user, password, host, path = (part or "" for part in parts.groups())
    port = re.search(r":(\d+)$", host)
    check(port is None or int(port[1]) < 2**16, f"{name} has a port above 65,535. Correct it.")
    if not is_full:
        _check_base_url(name, start, api_key)

    known: list[str] = []
    basic = ""
    if is_full:
        redacted_url = scheme + host
        start = redacted_url + path
        known = sorted(re.split(r"[/?&=]", path), key=len, reverse=True)
        if known[0]:
            redacted_url += "/" + _last_four(known[0])
        known += [user, password]
        if user or password:
            credentials = unquote(f"{user}:{password}")
            check(
                all(ord(char) < 256 for char in credentials),
                "The credentials in url contain characters outside Latin-1, which HTTP cannot send. "
                "Use another user name or password.",
            )
            basic = b64encode(credentials.encode("latin-1")).decode()
        known = [one for one in [*known, *map(unquote, known), basic] if len(one) >= _MIN_MASKED_LENGTH]
    else:
        start += "/v2/" if name == "base_url" else "/"
        redacted_url = start + _last_four(api_key)
    if not is_full and not callable(api_key):
        _verify("api_key", api_key, name, start)
    if jwt is not None and not callable(jwt):
        _verify("jwt", jwt, name, start)
    authorized_by = "jwt" if jwt is not None else "the URL" if basic else None
    fixed_headers = {} if headers is None or callable(headers) else check_request_headers(headers, authorized_by)
    secrets: tuple[str, ...] = tuple(known)
    last: ResolvedEndpoint | None = None
    last_given: tuple[str, str, dict[str, str]] | None = None

    def with_secrets(key: str, token: str, extra: dict[str, str]) -> ResolvedEndpoint:
        nonlocal last, last_given, secrets
        if last is None or last_given != (key, token, extra):
            # Earlier secrets stay masked after a rotation, because a response may still contain them.
            secrets = tuple(dict.fromkeys((key, token, *find_header_secrets(extra), *secrets)))[:_MAX_SECRETS]
            authorization = f"Bearer {token}" if token else f"Basic {basic}" if basic else ""
            last_given = (key, token, extra)
            last = ResolvedEndpoint(
                url=start + key,
                redacted_url=redacted_url if is_full else start + _last_four(key),
                headers={
                    "content-type": "application/json",
                    **({"authorization": authorization} if authorization else {}),
                    **extra,
                },
                secrets=secrets,
            )
        return last

    def call_option(option: str, function: Callable[[], Any]) -> Generator[Any, Any, Any]:
        exception: str | None = None
        value: Any = None
        try:
            value = function()
            if isinstance(value, Awaitable):
                value = yield value
        except Exception as error:  # Only its type is shown, because its message may contain the secret.
            exception = type(error).__name__
        if exception is not None:
            raise invalid(f"The {option} function raised {exception}. Call it directly to see the message.")
        return value

    def read_secret(option: str, secret: Any) -> Generator[Any, Any, str]:
        if not callable(secret):
            return str.__str__(secret or "")
        return _verify(option, (yield from call_option(option, secret)), name, start)

    def resolve() -> Generator[Any, Any, ResolvedEndpoint]:
        key = yield from read_secret("api_key", api_key)
        token = yield from read_secret("jwt", jwt)
        extra = fixed_headers
        if callable(headers):
            extra = check_request_headers((yield from call_option("headers", headers)), authorized_by)
        return with_secrets(key, token, extra)

    return CheckedEndpoint(redacted_url=redacted_url, chain_id=chain, resolve=resolve)
