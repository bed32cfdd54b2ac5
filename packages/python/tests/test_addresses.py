"""What is wrong with a URL is said in words of its own, without the key (item 17 of the list of known faults)."""

from __future__ import annotations

from typing import Any

import pytest
from leak_walk import leaks_of

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider

KEY = "kr_a7Hq2mZ9xT4vB6nR1cW8yL3pD5sF0gJkQeUi1a2B"
ONLY_HTTP = "but only http:// and https:// are supported"
CASES: list[tuple[Any, str]] = [
    ("", "{} is empty: is the variable set?"),
    ("  \n", "{} is empty: is the variable set?"),
    ("ws://node.example", "{} starts with ws://, " + ONLY_HTTP),
    ("wss://node.example", "{} starts with wss://, " + ONLY_HTTP),
    ("WSS://node.example", "{} starts with WSS://, " + ONLY_HTTP),
    ("ftp://node.example", "{} starts with ftp://, " + ONLY_HTTP),
    ("localhost:8545", "{} is missing http:// or https:// at its start"),
    ("127.0.0.1:8545", "{} is missing http:// or https:// at its start"),
    ("node.example/testnet", "{} is missing http:// or https:// at its start"),
    ("//node.example", "{} is missing http:// or https:// at its start"),
    ("http:/node.example", "{} is missing http:// or https:// at its start"),
    (KEY, "{} is missing http:// or https:// at its start"),
    (KEY + "://node.example", "{} is missing http:// or https:// at its start"),
    ("https://node.example /testnet", "{} holds white space: copy it again"),
    ("https://node.example\n", "{} holds white space: copy it again"),
    (8545, "{} must be a string such as https://host/path, not int"),
    (b"http://node.example", "{} must be a string such as https://host/path, not bytes"),
    ({"mainnet": "https://node.example"}, '{} has no URL for network "testnet"'),
    ("https://", "{} must be a full URL, such as https://host/path: check its host, port and credentials"),
    (
        "https://node.example:port",
        "{} must be a full URL, such as https://host/path: check its host, port and credentials",
    ),
    ("https://node.example/" + "a" * 10_000, "{} is longer than 10,000 characters"),
]
PARTS: list[tuple[str, str]] = [
    ("https://node.example/", '{} ends with "/": remove it'),
    ("https://node.example/testnet/", '{} ends with "/": remove it'),
    ("https://node.example?a=b", "{} holds a query (?…): remove it, or pass the full URL as url"),
    ("https://node.example/x?", "{} holds a query (?…): remove it, or pass the full URL as url"),
    ("https://node.example/x#y", "{} holds a fragment (#…): remove it"),
    ("https://a:b@node.example", "{} holds credentials (user:password@): remove them, or pass the full URL as url"),
]


def said(provider: Any, options: dict[str, Any]) -> str:
    with pytest.raises(KeyrailError) as caught:
        provider(**options)
    assert caught.value.kind == "invalidRequest"
    assert leaks_of(caught.value, KEY) == []
    return str(caught.value)


@pytest.mark.parametrize("provider", [KeyrailProvider, AsyncKeyrailProvider])
@pytest.mark.parametrize(("given", "message"), CASES, ids=range(len(CASES)))
def test_each_thing_that_is_wrong_with_a_url_has_its_own_words(provider: Any, given: Any, message: str) -> None:
    network = {"network": "testnet"} if isinstance(given, dict) else {}
    assert said(provider, {"url": given, **network}) == message.format("url")
    for name in ("base_url", "rpc_url"):
        assert said(provider, {name: given, "api_key": KEY, **network}) == message.format(name)


@pytest.mark.parametrize(("given", "message"), PARTS, ids=range(len(PARTS)))
def test_parts_that_a_base_url_must_not_have_are_named(given: str, message: str) -> None:
    for name in ("base_url", "rpc_url"):
        assert said(KeyrailProvider, {name: given, "api_key": KEY}) == message.format(name)
    # A full URL may have them.
    KeyrailProvider(url=given).close()


def test_a_url_that_is_missing_is_named() -> None:
    message = "base_url is missing: is the variable set? Pass url alone, or base_url or rpc_url with api_key"
    assert said(KeyrailProvider, {"api_key": KEY}) == message
    assert said(KeyrailProvider, {"base_url": None, "api_key": KEY}) == message
