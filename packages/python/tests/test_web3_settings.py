"""Settings of web3.py's own providers work in the same way, or an error says how to set them."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest
from leak_walk import find_leaks
from web3 import AsyncHTTPProvider, AsyncWeb3, HTTPProvider, Web3
from web3.types import RPCEndpoint
from web3.utils import RequestCacheValidationThreshold

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider

KEY = "kr_a" + "k3Y" * 13
BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
HASH = "0x" + "ab" * 32


def block(number: str, timestamp: int) -> dict[str, Any]:
    return {"number": number, "hash": HASH, "timestamp": hex(timestamp)}


def node(request: ReceivedRequest, connection: Connection) -> None:
    """A chain whose blocks above 100 are recent."""
    if not request.calls:
        connection.respond(200, {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "empty batch"}})
        return
    results = {
        "eth_chainId": "0x1",
        "net_version": "1",
        "web3_clientVersion": "node/1",
        "eth_blockNumber": "0xc8",
        "eth_getTransactionByHash": {"hash": HASH, "blockNumber": "0x5"},
    }

    def respond_to(call: dict[str, Any]) -> dict[str, Any]:
        result: Any = results.get(call["method"])
        if call["method"] == "eth_getBlockByNumber":
            number = call["params"][0]
            number = {"finalized": "0x64", "safe": "0x64", "latest": "0xc8"}.get(number, number)
            result = block(number, 1_700_000_000 if int(number, 16) <= 100 else 4_000_000_000)
        return {"jsonrpc": "2.0", "id": call["id"], "result": result}

    responses = [respond_to(call) for call in request.calls]
    connection.respond(200, responses if isinstance(request.json, list) else responses[0])


CALLS: list[tuple[str, list[Any]]] = [
    ("net_version", []),
    ("net_version", []),
    ("web3_clientVersion", []),
    ("web3_clientVersion", []),
    ("eth_blockNumber", []),
    ("eth_blockNumber", []),
    ("eth_getBlockByNumber", ["0x5", False]),
    ("eth_getBlockByNumber", ["0x5", False]),
    ("eth_getBlockByNumber", ["0xc0", False]),
    ("eth_getBlockByNumber", ["0xc0", False]),
    ("eth_getTransactionByHash", [HASH]),
    ("eth_getTransactionByHash", [HASH]),
    ("eth_gasPrice", []),
    ("eth_gasPrice", []),
]


def get_received_methods(provider: Any, server: FaultServer) -> list[str]:
    """Make the calls and return the methods that the server received, without the requests of web3.py's cache."""

    async def run() -> None:
        for method, params in CALLS:
            await provider.make_request(method, params)
        await provider.disconnect()

    before = len(server.requests)
    if provider.is_async:
        asyncio.run(run())
    else:
        for method, params in CALLS:
            provider.make_request(method, params)
    return [method for request in server.requests[before:] for method in request.methods if method != "eth_chainId"]


def create_provider(kind: str, url: str, **options: Any) -> Any:
    return KeyrailProvider(url=url, **options) if kind == "sync" else AsyncKeyrailProvider(url=url, **options)


def create_http_provider(kind: str, url: str, **options: Any) -> Any:
    return HTTPProvider(url, **options) if kind == "sync" else AsyncHTTPProvider(url, **options)


CACHES: list[dict[str, Any]] = [
    {},
    {"cache_allowed_requests": False},
    {"cache_allowed_requests": True},
    {"cache_allowed_requests": True, "cacheable_requests": {"eth_gasPrice", "eth_blockNumber"}},
    {"cache_allowed_requests": True, "request_cache_validation_threshold": None},
    {"cache_allowed_requests": True, "request_cache_validation_threshold": 60},
    {"cache_allowed_requests": True, "request_cache_validation_threshold": RequestCacheValidationThreshold.SAFE},
]


@BOTH
@pytest.mark.parametrize("by_attribute", [False, True])
@pytest.mark.parametrize("options", CACHES, ids=range(len(CACHES)))
def test_the_request_cache_works_as_with_http_provider(kind: str, options: dict[str, Any], by_attribute: bool) -> None:
    def receive(create: Callable[..., Any]) -> list[str]:
        with FaultServer(node) as server:
            provider = create(kind, server.url, **({} if by_attribute else options))
            if by_attribute:
                for name, value in options.items():
                    setattr(provider, name, value)
            methods = get_received_methods(provider, server)
            if kind == "sync" and isinstance(provider, KeyrailProvider):
                provider.close()
            return methods

    ours = receive(create_provider)
    assert ours == receive(create_http_provider)
    cached = "eth_blockNumber" if "cacheable_requests" in options else "net_version"
    assert ours.count(cached) == (1 if options.get("cache_allowed_requests") else 2)


def test_failures_are_not_cached() -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        if len(server.requests) == 1:
            connection.respond(
                200, {"jsonrpc": "2.0", "id": request.json["id"], "error": {"code": -32000, "message": "busy"}}
            )
        else:
            node(request, connection)

    with (
        FaultServer(script) as server,
        KeyrailProvider(url=server.url, retry=False, cache_allowed_requests=True) as provider,
    ):
        with pytest.raises(KeyrailError):
            provider.make_request(RPCEndpoint("net_version"), [])
        for _ in range(3):
            assert provider.make_request(RPCEndpoint("net_version"), [])["result"] == "1"
        assert server.methods.count("net_version") == 2


@BOTH
def test_an_empty_batch_returns_an_empty_list_and_sends_nothing(kind: str) -> None:
    with FaultServer(node) as server:
        provider = create_provider(kind, server.url)
        if kind == "sync":
            w3 = Web3(provider)
            assert w3.batch_requests().execute() == []
            with w3.batch_requests() as batch:
                assert batch.execute() == []
            cleared = w3.batch_requests()
            cleared.add(w3.eth.get_block(5))
            cleared.clear()
            assert cleared.execute() == []
            assert provider.make_batch_request([]) == provider.batch_settled([]) == []
            assert server.requests == []
            # Later batches and calls work.
            with w3.batch_requests() as batch:
                batch.add(w3.eth.get_block(5))
                found: Any = batch.execute()
            assert found[0]["number"] == 5
            assert w3.eth.block_number == 200
            provider.close()
            return

        async def run() -> None:
            async with provider:
                w3 = AsyncWeb3(provider)
                assert await w3.batch_requests().async_execute() == []
                async with w3.batch_requests() as batch:
                    assert await batch.async_execute() == []
                assert await provider.make_batch_request([]) == await provider.batch_settled([]) == []
                assert server.requests == []
                async with w3.batch_requests() as batch:
                    batch.add(w3.eth.get_block(5))
                    found: Any = await batch.async_execute()
                assert found[0]["number"] == 5
                assert await w3.eth.block_number == 200

        asyncio.run(run())


WITHOUT_EFFECT = {
    "endpoint_uri": "url=",
    "exception_retry_configuration": "retry=",
    "request_kwargs": "timeout_ms=, headers=, proxy= or ssl_context=",
    "session": "headers=, proxy= or ssl_context=",
    "timeout_ms": "timeout_ms=",
    "retry": "retry=",
    "api_key": "api_key=",
    "jwt": "jwt=",
    "base_url": "base_url=",
}


@BOTH
@pytest.mark.parametrize("name", WITHOUT_EFFECT)
def test_an_attribute_without_effect_cannot_be_set(kind: str, name: str) -> None:
    provider = create_provider(kind, "http://127.0.0.1:9")
    with pytest.raises(KeyrailError) as caught:
        setattr(provider, name, KEY)
    assert caught.value.kind == "invalidRequest"
    assert (
        str(caught.value)
        == f"Setting {name} has no effect on an existing provider. Pass {WITHOUT_EFFECT[name]} when you create it."
    )
    assert find_leaks(caught.value, KEY) == []
    assert not hasattr(provider, name) or name == "endpoint_uri"
    # Other attributes can be set.
    provider.global_ccip_read_enabled = False
    provider.note = "of a program"


@BOTH
@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("timeout", "timeout_ms"),
        ("timeoutMs", "timeout_ms"),
        ("timeout-ms", "timeout_ms"),
        ("baseUrl", "base_url"),
        ("rpcUrl", "rpc_url"),
        ("rpc", "rpc_url"),
        ("apikey", "api_key"),
        ("API_KEY", "api_key"),
        ("chainId", "chain_id"),
        ("max_inflight", "max_in_flight"),
        ("retries", "retry"),
        ("resend", "resends"),
        ("networks", "network"),
        ("cache_allowed_request", "cache_allowed_requests"),
    ],
)
def test_an_unknown_option_suggests_the_nearest_name(kind: str, name: str, nearest: str) -> None:
    with pytest.raises(KeyrailError) as caught:
        create_provider(kind, "http://127.0.0.1:9", **{name: 1})
    assert str(caught.value) == f'Unknown option "{name}". Did you mean "{nearest}"?'


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"retry": {"retrys": 1}}, 'Unknown option "retrys". Did you mean "retries"?'),
        ({"retry": {"base": 1}}, 'Unknown option "base". Did you mean "base_ms"?'),
        ({"batch": {"maxCalls": 1}}, 'Unknown option "maxCalls". Did you mean "max_calls"?'),
        ({"batch": {"xyz": 1}}, 'Unknown option "xyz". The options of batch are max_calls, max_bytes.'),
        ({"cache_allowed_requests": 1}, "cache_allowed_requests must be True or False, not 1."),
    ],
)
def test_nested_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(KeyrailError) as caught:
        KeyrailProvider(url="http://127.0.0.1:9", **options)
    assert str(caught.value) == message


def test_an_unknown_option_without_a_similar_name_lists_all_options() -> None:
    with pytest.raises(KeyrailError, match=r'^Unknown option "wallet"\. The options of a provider are url, base_url, '):
        KeyrailProvider(url="http://127.0.0.1:9", wallet=1)  # type: ignore[arg-type]


@BOTH
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"endpoint_uri": "x"}, "endpoint_uri is an option of web3.py's HTTP providers. Pass url= instead."),
        (
            {"exception_retry_configuration": 5},
            "exception_retry_configuration is an option of web3.py's HTTP providers. Pass retry= instead.",
        ),
        (
            {"exception_retry_configuration": None, "request_kwargs": {"timeout": 2.5, "headers": {"x-key": KEY}}},
            "exception_retry_configuration and request_kwargs are options of web3.py's HTTP providers. "
            "Pass retry=False, timeout_ms=2_500 and headers= instead.",
        ),
        (
            {"request_kwargs": {"verify": "ca.pem", "cert": "own.pem", "auth": ("ann", KEY), "timeout": (1, 2)}},
            "request_kwargs is an option of web3.py's HTTP providers. "
            "Pass ssl_context=, headers={'authorization': …} and timeout_ms= instead.",
        ),
        *(
            (
                {"request_kwargs": given},
                "request_kwargs is an option of web3.py's HTTP providers. "
                "Pass timeout_ms=, headers=, proxy= or ssl_context= instead.",
            )
            for given in (None, {}, {"stream": True})
        ),
        (
            {"session": object()},
            "session is an option of web3.py's HTTP providers. Pass headers=, proxy= or ssl_context= instead.",
        ),
    ],
)
def test_options_of_http_provider_name_their_replacements(kind: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(KeyrailError) as caught:
        create_provider(kind, "http://127.0.0.1:9", **options)
    assert str(caught.value) == message


def test_a_session_of_aiohttp_is_rejected_with_the_replacement() -> None:
    async def run() -> None:
        await AsyncKeyrailProvider("http://127.0.0.1:9").cache_async_session(object())

    with pytest.raises(KeyrailError, match=r"Pass headers=, proxy= or ssl_context= instead\."):
        asyncio.run(run())


@BOTH
def test_the_url_can_be_positional_as_with_http_provider(kind: str) -> None:
    url = f"http://127.0.0.1:9/v2/{KEY}"
    provider: Any = (KeyrailProvider if kind == "sync" else AsyncKeyrailProvider)(url)
    assert provider.endpoint_uri == provider.redacted_url == "http://127.0.0.1:9/…" + KEY[-4:]


@BOTH
@pytest.mark.parametrize(
    ("positional", "message"),
    [
        ([{"timeout": 10}], "request_kwargs is an option of web3.py's HTTP providers. Pass timeout_ms=10_000 instead."),
        ([KEY], "Only the URL can be positional. Pass the other options by name, such as api_key=."),
    ],
)
def test_only_the_url_can_be_positional(kind: str, positional: list[Any], message: str) -> None:
    create: Any = KeyrailProvider if kind == "sync" else AsyncKeyrailProvider
    with pytest.raises(KeyrailError) as caught:
        create("http://127.0.0.1:9", *positional)
    assert str(caught.value) == message
    assert not find_leaks(caught.value, KEY)


@BOTH
@pytest.mark.parametrize("make_copy", [copy.copy, copy.deepcopy])
def test_a_copy_has_the_same_options_and_its_own_connections(kind: str, make_copy: Callable[[Any], Any]) -> None:
    with FaultServer(node) as server:
        provider = create_provider(kind, f"{server.url}/v2/{KEY}", cache_allowed_requests=True)
        provider.request_cache_validation_threshold = None
        get_received_methods(provider, server)
        copied = make_copy(provider)
        assert type(copied) is type(provider)
        assert copied.redacted_url == provider.redacted_url
        assert copied.cache_allowed_requests
        assert copied.request_cache_validation_threshold is None
        assert get_received_methods(copied, server).count("net_version") == 1
        assert server.requests[-1].path == f"/v2/{KEY}"
        assert server.requests[0].connection != server.requests[-1].connection
        assert find_leaks(copied, KEY) == []
        for one in (provider, copied):
            if kind == "sync":
                one.close()


@BOTH
def test_a_provider_cannot_be_pickled(kind: str) -> None:
    provider = create_provider(kind, f"http://127.0.0.1:9/v2/{KEY}")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(
            TypeError, match=r"^cannot pickle '(Async)?KeyrailProvider' object, because the API key"
        ) as caught:
            pickle.dumps(provider, protocol)
        assert find_leaks(caught.value, KEY) == []


NAMES = list(inspect.signature(KeyrailProvider).parameters)[:-1]


@BOTH
@pytest.mark.parametrize("name", NAMES)
def test_a_key_in_the_place_of_any_option_is_not_shown(kind: str, name: str) -> None:
    create: Any = KeyrailProvider if kind == "sync" else AsyncKeyrailProvider
    with pytest.raises(KeyrailError) as caught:
        # A wrong option, so that there is an error even if this one is valid.
        create(**{"url": "http://127.0.0.1:9", "resends": -1, name: KEY})
    assert find_leaks(caught.value, KEY) == []


def test_both_providers_have_the_same_options() -> None:
    assert list(inspect.signature(AsyncKeyrailProvider).parameters)[:-1] == NAMES
    assert "api_key" in NAMES
