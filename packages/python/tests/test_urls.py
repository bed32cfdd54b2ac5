"""Each problem with a URL has its own message, which does not show the key."""

from __future__ import annotations

from typing import Any

import pytest
from leak_walk import find_leaks

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider

KEY = "kr_a7Hq2mZ9xT4vB6nR1cW8yL3pD5sF0gJkQeUi1a2B"
CHECK_VARIABLE = "If it comes from an environment variable, check that it is set."
USE_HTTP = "which is not supported. Use https:// or http://."
CASES: list[tuple[Any, str]] = [
    ("", "{} is empty. " + CHECK_VARIABLE),
    ("  \n", "{} is empty. " + CHECK_VARIABLE),
    ("ws://node.example", "{} starts with ws://, " + USE_HTTP),
    ("wss://node.example", "{} starts with wss://, " + USE_HTTP),
    ("WSS://node.example", "{} starts with WSS://, " + USE_HTTP),
    ("ftp://node.example", "{} starts with ftp://, " + USE_HTTP),
    ("localhost:8545", "{} has no scheme. Start it with https:// or http://."),
    ("127.0.0.1:8545", "{} has no scheme. Start it with https:// or http://."),
    ("node.example/testnet", "{} has no scheme. Start it with https:// or http://."),
    ("//node.example", "{} has no scheme. Start it with https:// or http://."),
    ("http:/node.example", "{} has no scheme. Start it with https:// or http://."),
    (KEY, "{} has no scheme. Start it with https:// or http://."),
    (KEY + "://node.example", "{} has no scheme. Start it with https:// or http://."),
    ("https://node.example /testnet", "{} contains white space. Copy it again."),
    ("https://node.example\n", "{} contains white space. Copy it again."),
    (8545, "{} must be a string such as https://host/path, not 8545."),
    (b"http://node.example", "{} must be a string such as https://host/path, not a value of type bytes."),
    ("https://", "{} is not a valid URL. Check its host, port and credentials; it should look like https://host/path."),
    (
        "https://node.example:port",
        "{} is not a valid URL. Check its host, port and credentials; it should look like https://host/path.",
    ),
    (
        "https://node.example/" + "a" * 10_000,
        "{} has 10,021 characters, but must have fewer than 10,000. Copy it again.",
    ),
]
PARTS: list[tuple[str, str]] = [
    ("https://node.example/", '{} ends with "/". Remove the slash.'),
    ("https://node.example/testnet/", '{} ends with "/". Remove the slash.'),
    ("https://node.example?a=b", "{} contains a query (?…). Remove it, or pass the full URL as url."),
    ("https://node.example/x?", "{} contains a query (?…). Remove it, or pass the full URL as url."),
    ("https://node.example/x#y", "{} contains a fragment (#…). Remove it."),
    ("https://a:b@node.example", "{} contains credentials (user:password@). Remove them, or pass the full URL as url."),
]


def get_message(provider: Any, options: dict[str, Any]) -> str:
    with pytest.raises(KeyrailError) as caught:
        provider(**options)
    assert caught.value.kind == "invalidRequest"
    assert find_leaks(caught.value, KEY) == []
    return str(caught.value)


@pytest.mark.parametrize("provider", [KeyrailProvider, AsyncKeyrailProvider])
@pytest.mark.parametrize(("url", "message"), CASES, ids=range(len(CASES)))
def test_each_problem_with_a_url_has_its_own_message(provider: Any, url: Any, message: str) -> None:
    assert get_message(provider, {"url": url}) == message.format("url")
    for name in ("base_url", "rpc_url"):
        assert get_message(provider, {name: url, "api_key": KEY}) == message.format(name)


@pytest.mark.parametrize(("url", "message"), PARTS, ids=range(len(PARTS)))
def test_a_base_url_with_extra_parts_is_rejected(url: str, message: str) -> None:
    for name in ("base_url", "rpc_url"):
        assert get_message(KeyrailProvider, {name: url, "api_key": KEY}) == message.format(name)
    # A full URL may have these parts.
    KeyrailProvider(url=url).close()


@pytest.mark.parametrize(
    "options",
    [
        {"base_url": f"https://node.example/testnet/v2/{KEY}"},
        {"base_url": f"https://node.example/testnet/v2/{KEY}", "api_key": KEY},
        {"base_url": f"https://node.example/testnet/v2/{KEY}", "api_key": "kr_aOTHER"},
        {"rpc_url": f"https://node.example/testnet/{KEY}"},
        {"rpc_url": "https://mainnet.provider.example/v3/" + "0123456789abcdef" * 2},
    ],
)
def test_a_full_url_in_a_base_url_is_to_be_passed_as_url(options: dict[str, Any]) -> None:
    name = next(iter(options))
    message = f"{name} ends with a key, so it is a full URL. Pass it as url, without api_key."
    assert get_message(KeyrailProvider, options) == message


def test_a_missing_url_is_rejected() -> None:
    message = "The URL is missing. Pass url, or base_url or rpc_url with api_key. " + CHECK_VARIABLE
    assert get_message(KeyrailProvider, {"api_key": KEY}) == message
    assert get_message(KeyrailProvider, {"base_url": None, "api_key": KEY}) == message


NETWORKS = {"sepolia": "https://s.example", "mainnet": "https://m.example"}
NETWORK_CASES: list[tuple[dict[str, Any], str]] = [
    ({"base_url": NETWORKS}, "base_url is a dict of networks. Pass network, one of sepolia, mainnet."),
    ({"base_url": NETWORKS, "network": "goerli"}, 'Unknown network "goerli". base_url has sepolia, mainnet.'),
    ({"rpc_url": NETWORKS, "network": "testnet"}, 'Unknown network "testnet". rpc_url has sepolia, mainnet.'),
    (
        {"base_url": {"sepolia": None}, "network": "sepolia"},
        'base_url has no URL for network "sepolia". Add one, or pass another network.',
    ),
    (
        {"base_url": {f"n{at}": "https://node.example" for at in range(21)}, "network": "sepolia"},
        f'Unknown network "sepolia". base_url has {", ".join(f"n{at}" for at in range(20))}, ….',
    ),
    # A key in the wrong place is not shown.
    ({"base_url": {KEY: "https://node.example"}, "network": "a" * 25}, 'Unknown network "…". base_url has ….'),
    (
        {"base_url": NETWORKS, "network": KEY},
        'network must be a name such as "sepolia": lower-case letters, digits and hyphens, at most 63 characters.',
    ),
    (
        {"base_url": {}, "network": "sepolia"},
        "base_url must be a string such as https://host/path, not a value of type dict.",
    ),
    (
        {"base_url": NETWORKS, "network": "sepolia", "chain_id": {"mainnet": 1}},
        'Unknown network "sepolia". chain_id has mainnet.',
    ),
    # Otherwise no response would be checked for its chain.
    (
        {"base_url": NETWORKS, "network": "sepolia", "chain_id": {"sepolia": None}},
        "chain_id must be a positive whole number, not None.",
    ),
    (
        {"base_url": NETWORKS, "network": "sepolia", "chain_id": {}},
        "chain_id must be a positive whole number, not a value of type dict.",
    ),
]


@pytest.mark.parametrize("provider", [KeyrailProvider, AsyncKeyrailProvider])
@pytest.mark.parametrize(("options", "message"), NETWORK_CASES, ids=range(len(NETWORK_CASES)))
def test_a_dict_of_networks_gives_the_allowed_names(provider: Any, options: dict[str, Any], message: str) -> None:
    assert get_message(provider, {"api_key": KEY, **options}) == message


def test_a_full_url_is_not_a_dict_of_networks() -> None:
    message = "url must be a string such as https://host/path, not a value of type dict."
    assert get_message(KeyrailProvider, {"url": NETWORKS, "network": "sepolia"}) == message
