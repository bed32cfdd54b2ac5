"""Checks an address and takes it apart into what may be printed and a closure that holds the rest."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar
from urllib.parse import unquote

from ..failure.check import check, invalid

T = TypeVar("T")

Network = Literal["testnet", "mainnet"]
"""The two networks of a chain."""

PerNetwork: TypeAlias = T | Mapping[str, T]
"""One value, or one for each network; the latter needs ``network`` to choose."""

Secret: TypeAlias = str | Callable[[], str]
"""A secret, or a function that gives the one in force: it is asked for each attempt, so keys rotate without a restart."""

AsyncSecret: TypeAlias = str | Callable[[], str | Awaitable[str]]
"""The same, where the function may also be asynchronous."""


@dataclass(slots=True)
class OpenAddress:
    """An address as one attempt needs it. Never kept where a caller can reach it."""

    url: str = field(repr=False)
    authorization: str = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    """What must not appear in anything that is printed."""
    label: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """What is sent along."""
        more = {"authorization": self.authorization} if self.authorization else {}
        return {"content-type": "application/json", **more}


@dataclass(slots=True)
class Address:
    """An address, checked. The key stays inside ``open``."""

    label: str
    """What may be printed before the key is known."""
    chain_id: int | None
    open: Callable[[], Generator[Any, Any, OpenAddress]] = field(repr=False)
    """Gives the address for one attempt. Yields what a key function gave where that has to be awaited."""


# Scheme, user, password, host with port, and path with query. Stricter than a URL may be: nothing that could be a secret may
# stand where the label is taken from.
_PARTS = re.compile(
    r"(https?://)(?:([^/?#@:\\]*):?([^/?#@\\]*)@)?((?:\[[\da-f:.]+\]|[^\s/?#@\\:;%&=\[\]]+)(?::\d{1,5})?)"
    r"((?:[/?][^#@\\\s]*)?)(?:#.*)?",
    re.IGNORECASE | re.ASCII,
)
# The characters of a path segment, without escapes: RFC 3986 section 3.3. From & to . are &'()*+,-.
_SECRET = re.compile(r"[\w!$&-.:;=@~]+", re.ASCII)
# Of a scheme no more is shown than the usual ones have.
_SCHEME = re.compile(r"[a-z][a-z+.-]{0,7}://", re.IGNORECASE | re.ASCII)
_MOST_SECRETS = 32
_SHORTEST_SHOWN = 16
_SHORTEST_HIDDEN = 8
_LONGEST_PARTS = 10_000


def _last_four(secret: Any) -> str:
    return "…" + secret[-4:] if isinstance(secret, str) and len(secret) >= _SHORTEST_SHOWN else "…"


def _verify(name: str, secret: Any, url: str) -> str:
    check(secret and isinstance(secret, str), f"{name} is missing or empty: is the variable set?")
    check(name == "jwt" or "/" not in secret, f"{name} holds a '/': did you paste the whole address? pass it as url")
    check(
        _SECRET.fullmatch(secret),
        f"{name} holds white space or another character that does not belong: copy it again",
    )
    check(f"/{secret}/" not in url, f"{name} is in the URL already: pass the whole address as url")
    return str(secret)


def _url_problem(name: str, given: Any, network: Any) -> str:
    """Say what is wrong with a URL, without repeating it: it may hold the key."""
    if given is None:
        return f'{name} has no URL for network "{network}"'
    if not isinstance(given, str):
        return f"{name} must be a string such as https://host/path, not {type(given).__name__}"
    if not given.strip():
        return f"{name} is empty: is the variable set?"
    if any(one.isspace() for one in given):
        return f"{name} holds white space: copy it again"
    scheme = _SCHEME.match(given)
    if scheme is None:
        return f"{name} is missing http:// or https:// at its start"
    if scheme[0].lower() not in ("http://", "https://"):
        return f"{name} starts with {scheme[0]}, but only http:// and https:// are supported"
    if len(given) >= _LONGEST_PARTS:
        return f"{name} is longer than {_LONGEST_PARTS:,} characters"
    return f"{name} must be a full URL, such as https://host/path: check its host, port and credentials"


def open_address(
    *given_bare: object,
    url: Any = None,
    base_url: Any = None,
    rpc_url: Any = None,
    api_key: Any = None,
    network: Any = None,
    chain_id: Any = None,
    jwt: Any = None,
) -> Address:
    """Check an address: ``{base_url}/v2/{api_key}``, ``{rpc_url}/{api_key}``, or a whole ``url``.

    Raises:
        KeyrailError: Of kind ``invalidRequest``, naming the option and the mend.

    """
    given = {
        name: value for name, value in (("url", url), ("base_url", base_url), ("rpc_url", rpc_url)) if value is not None
    }
    whole = "url" in given
    check(not given_bare, "an address is an object of options: pass url=, or base_url= or rpc_url= with api_key=")
    none = "pass url alone, or base_url or rpc_url with api_key"
    check(given or not api_key, f"base_url is missing: is the variable set? {none[0].upper()}{none[1:]}")
    check(
        len(given) == 1 and not (whole and api_key),
        none,
    )
    ((name, value),) = given.items()

    def of_network(of: Any) -> Any:
        record = isinstance(of, Mapping) and any(one in ("testnet", "mainnet") for one in of)
        check(
            network in ("testnet", "mainnet") or (network is None and not record),
            "network must be 'testnet' or 'mainnet'",
        )
        return of.get(network) if record else of

    chain = of_network(chain_id)
    check(
        chain is None or (isinstance(chain, int) and not isinstance(chain, bool) and 0 < chain < 2**53),
        "chain_id must be a whole number above 0",
    )
    start = of_network(value)
    parts = _PARTS.fullmatch(start) if isinstance(start, str) and len(start) < _LONGEST_PARTS else None
    if parts is None or any(one.isspace() for one in start.partition("#")[0]):
        raise invalid(_url_problem(name, start, network))
    scheme, user, password, host, path = (part or "" for part in parts.groups())
    if not whole:
        instead = "or pass the full URL as url"
        check("@" not in start, f"{name} holds credentials (user:password@): remove them, {instead}")
        check("?" not in start, f"{name} holds a query (?…): remove it, {instead}")
        check("#" not in start, f"{name} holds a fragment (#…): remove it")
        check(not start.endswith("/"), f'{name} ends with "/": remove it')

    known: list[str] = []
    basic = ""
    if whole:
        label = scheme + host
        start = label + path
        known = sorted(re.split(r"[/?&=]", path), key=len, reverse=True)
        if known[0]:
            label += "/" + _last_four(known[0])
        known += [user, password]
        if user or password:
            named = unquote(f"{user}:{password}")
            check(
                all(ord(one) < 256 for one in named),
                "url holds credentials that cannot be sent: they must be Latin characters",
            )
            basic = b64encode(named.encode("latin-1")).decode()
        known = [one for one in [*known, *map(unquote, known), basic] if len(one) >= _SHORTEST_HIDDEN]
    else:
        start += "/v2/" if name == "base_url" else "/"
        label = start + _last_four(api_key)
    if not whole and not callable(api_key):
        _verify("api_key", api_key, start)
    if jwt is not None and not callable(jwt):
        _verify("jwt", jwt, start)
    secrets: tuple[str, ...] = tuple(known)
    last: OpenAddress | None = None

    def make(key: str, token: str) -> OpenAddress:
        nonlocal last, secrets
        if last is None or last.secrets[:2] != (key, token):
            # Secrets stay masked after a rotation, for an answer that still speaks of the one before.
            secrets = (key, token, *secrets)[:_MOST_SECRETS]
            last = OpenAddress(
                url=start + key,
                label=label if whole else start + _last_four(key),
                authorization=f"Bearer {token}" if token else f"Basic {basic}" if basic else "",
                secrets=secrets,
            )
        return last

    def ask(name: str, secret: Any) -> Generator[Any, Any, str]:
        if not callable(secret):
            return secret or ""
        failed = False
        try:
            secret = secret()
            if isinstance(secret, Awaitable):
                secret = yield secret
        except Exception:  # What it raises may hold the secret, so it is not told.
            failed = True
        if failed:
            raise invalid(f"the {name} function failed")
        return _verify(name, secret, start)

    def open_now() -> Generator[Any, Any, OpenAddress]:
        key = yield from ask("api_key", api_key)
        token = yield from ask("jwt", jwt)
        return make(key, token)

    return Address(label=label, chain_id=chain, open=open_now)
