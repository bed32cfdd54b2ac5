"""Collects every error message of the package in errors.txt, so that a reviewer can read them in one go."""

from __future__ import annotations

import ast
import asyncio
import difflib
import json
import os
import pickle
import re
import socket
import ssl
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from chain_server import ChainServer, NodeError
from fault_server import Connection as Wire
from fault_server import FaultServer, ReceivedRequest, Script
from subscription_server import Chain, Socket, SubscriptionServer
from web3 import Web3
from web3.types import RPCEndpoint

from keyrail import (
    AsyncKeyrailProvider,
    Breaker,
    Budget,
    Cache,
    Endpoint,
    Failover,
    Hooks,
    KeyrailError,
    KeyrailPersistentProvider,
    KeyrailProvider,
    Settled,
    call_options,
    logs,
    subscribe,
)
from keyrail.failure.create_failure import create_failure
from keyrail.failure.facts import Facts
from keyrail.failure.hints import HINTS, add_hint
from keyrail.logs.event_abi import parse_event
from keyrail.logs.export_file import lock
from keyrail.message.parse_json import MAX_DEPTH
from keyrail.subscribe.apply_notification import out_of_order
from keyrail.subscribe.chain_poller import too_deep
from keyrail.subscribe.chain_source import malformed, missing_block
from keyrail.subscribe.follow_socket import ignored_cursor
from keyrail.testing import MockNode
from keyrail.transport.breaker import CircuitBreaker
from keyrail.transport.http_failure import TunnelRejectedError
from keyrail.transport.http_request import describe_error, describe_ssl_problem, split_url
from keyrail.transport.route_block import create_lagging_failure

SNAPSHOT = Path(__file__).parent / "errors.txt"
SOURCES = Path(__file__).parents[1] / "src/keyrail"
UPDATE = "KEYRAIL_UPDATE=1 .venv/bin/python -m pytest tests/test_errors.py"
APP: dict[str, Any] = {"base_url": "https://node.example/testnet", "api_key": "notARealKeyAtAll1234"}
KEY = APP["api_key"]
RAW = "0x02c0"
# The first is written for the type checker. The second always ends as "unconfirmed".
# The last is Python's own message for a missing name of a module.
NEVER_SHOWN = {
    "the response is not a batch response",
    "the server responded with the hash of another transaction",
    "module ",
}

OPTIONS: list[dict[str, Any]] = [
    {},
    {"api_key": KEY},
    {**APP, "url": "https://node.example"},
    {"url": "https://node.example", "api_key": KEY},
    {**APP, "timeout": 5},
    {**APP, "endpoint_uri": "https://node.example"},
    {**APP, "request_kwargs": {"timeout": 5}},
    {**APP, "request_kwargs": {"headers": {"x-team": "a"}, "verify": False}, "exception_retry_configuration": None},
    {**APP, "wallet": 5},
    {**APP, "a-very-long-name-that-may-be-a-secret": 5},
    {**APP, "network": "base_sepolia"},
    {**APP, "base_url": {"mainnet": "https://node.example"}},
    {**APP, "base_url": {"mainnet": "https://node.example"}, "network": "goerli"},
    {**APP, "base_url": {"mainnet": None}, "network": "mainnet"},
    {**APP, "base_url": "https://node.example/{network}"},
    {**APP, "base_url": "https://node.example/{netwrok}", "network": "sepolia"},
    {**APP, "chain_id": {"testnet": 5}},
    {**APP, "chain_id": -1},
    {**APP, "chain_id": "0x1"},
    {"url": 8545},
    {"url": " "},
    {"url": "https://node.example /path"},
    {"url": "node.example"},
    {"url": "wss://node.example"},
    {"url": "https://node.example/" + "a" * 10_000},
    {"url": "https://node.example:port"},
    {"url": "https://node.example:85450"},
    {"url": "https://user:пароль@node.example"},
    {**APP, "base_url": "https://user:password@node.example"},
    {**APP, "base_url": "https://node.example?a=b"},
    {**APP, "base_url": "https://node.example/x#y"},
    {**APP, "base_url": "https://node.example/"},
    {"base_url": f"https://node.example/v2/{KEY}"},
    {**APP, "api_key": ""},
    {**APP, "api_key": f"https://node.example/{KEY}"},
    {**APP, "api_key": f"{KEY} "},
    {**APP, "base_url": f"https://node.example/{KEY}"},
    {**APP, "jwt": 5},
    {**APP, "jwt": "a b"},
    {**APP, "timeout_ms": 0},
    {**APP, "timeout_ms": "10s"},
    {**APP, "retry": "3"},
    {**APP, "retry": {"retries": -1}},
    {**APP, "retry": {"base_ms": -1}},
    {**APP, "retry": {"times": 3}},
    {**APP, "retry": {"xyz": 3}},
    {**APP, "batch": 100},
    {**APP, "batch": {"max_calls": 0}},
    {**APP, "batch": {"max_bytes": 1.5}},
    {**APP, "max_response_bytes": -1},
    {**APP, "max_in_flight": 0},
    {**APP, "resends": True},
    {**APP, "cache_allowed_requests": 1},
    {**APP, "headers": "x-team: wallet"},
    {**APP, "headers": {"x team": "wallet"}},
    {**APP, "headers": {"host": "node.example"}},
    {**APP, "headers": {"authorization": "Bearer a"}, "jwt": "a.b.c"},
    {**APP, "headers": {"x-team": "a", "X-Team": "b"}},
    {**APP, "headers": {"x-team": ""}},
    {**APP, "headers": {"x-team": "a\nb"}},
    {**APP, "proxy": "socks5://127.0.0.1:1080"},
    {**APP, "proxy": "http://user:пароль@127.0.0.1:3128"},
    {**APP, "ssl_context": "/etc/ssl/ca.pem"},
    {**APP, "endpoints": [Endpoint("https://node.example")]},
    {"endpoints": "https://node.example"},
    {"endpoints": []},
    {"endpoints": [Endpoint("https://node.example", chain_id=one) for one in (1, 5)]},
    {"endpoints": [Endpoint("https://node.example")], "failover": {"min_block": True}},
    {"endpoints": [Endpoint("https://node.example", weight=2)], "failover": Failover(order="latency")},
    {**APP, "failover": Failover()},
    {**APP, "budget": 25},
    {**APP, "cache": True},
    {**APP, "hooks": print},
    {**APP, "stats": 1},
    {**APP, "tracing": 1},
]

LOG_OPTIONS: list[dict[str, Any]] = [
    {"from_block": -1},
    {"to_block": "pending"},
    {"to_block": "a string that may be a secret"},
    {"from_block": 9, "to_block": 8},
    {"max_blocks": 0},
    {"concurrency": 65},
    {"concurrency": 4.0},
    {"cursor": 7},
    {"cursor": {"next_block": 7}},
    {"on_progress": 7},
    {"check_reorg": 1},
    {"address": 7},
    {"address": [7]},
    {"address": "0x12"},
    {"topics": "0x12"},
    {"event": 7},
    {"event": "Transfer"},
    {"event": "Transfer(uint7 a)"},
    {"event": "Transfer(uint a,)"},
    {"event": "Transfer(uint a b)"},
    {"event": "T(uint indexed a, uint indexed b, uint indexed c, uint indexed d)"},
    {"event": {"type": "function"}},
    {"event": {"type": "event", "name": "Transfer", "inputs": [{"name": "a"}]}},
    {"event": "Sync()", "topics": ["0x12"]},
]


PARTS: list[Callable[[], Any]] = [
    lambda: Endpoint("https://node.example", weight=-1),
    lambda: Endpoint("https://node.example", name=5),  # type: ignore[arg-type]
    lambda: Endpoint("https://node.example", waight=5),  # type: ignore[arg-type]
    lambda: Failover(order="fastest"),  # type: ignore[arg-type]
    lambda: Failover(order="latency", breaker=False),
    lambda: Failover(attempt_timeout_ms=0),
    lambda: Failover(min_block=7),  # type: ignore[arg-type]
    lambda: Failover(breaker=5),  # type: ignore[arg-type]
    lambda: Breaker(failure_rate=2),
    lambda: Budget(requests_per_second=0),
    lambda: Budget(requests_per_second=5, compute_units_per_second=5),
    lambda: Budget(burst=5),
    lambda: Cache(max_bytes=0),
    lambda: call_options(priority="urgent").__enter__(),  # type: ignore[arg-type]
    lambda: Budget(compute_units=5),  # type: ignore[arg-type]
    lambda: Budget(compute_units={"eth_call": -1}),
    lambda: Hooks(on_failure=5),  # type: ignore[arg-type]
    lambda: Hooks(on_failure=asyncio.sleep),  # type: ignore[arg-type]
]


def get_message(run: Callable[[], Any]) -> str:
    with pytest.raises((KeyrailError, TypeError, ImportError, AssertionError, AttributeError)) as caught:
        run()
    message, hint = str(caught.value), getattr(caught.value, "hint", None)
    return message if hint is None or hint in message else f"{message} (hint: {hint})"


def raw(status: int, body: str, headers: dict[str, str] | None = None) -> Script:
    return lambda request, connection: connection.respond(status, body, headers or {})


def with_member(**members: Any) -> Script:
    return lambda request, connection: connection.respond(200, {"jsonrpc": "2.0", "id": 1, **members})


def chunk_then_close(_: ReceivedRequest, connection: Wire) -> None:
    connection.head(200, {}, 100)
    connection.send(b"{")
    connection.sock.close()
    raise OSError("closed")


def reset(_: ReceivedRequest, connection: Wire) -> None:
    connection.reset()


def hang(_: ReceivedRequest, connection: Wire) -> None:
    connection.hang()


RESPONSES: list[tuple[Script, dict[str, Any]]] = [
    (hang, {"timeout_ms": 50}),
    (reset, {}),
    (chunk_then_close, {}),
    (raw(200, "not gzip", {"content-encoding": "gzip"}), {}),
    (lambda _, connection: connection.send(b"SSH-2.0-OpenSSH\r\n"), {}),
    (raw(200, "x" * 6_000), {"max_response_bytes": 5_000}),
    (raw(403, "x" * 6_000), {"max_response_bytes": 5_000}),
    (raw(302, "", {"location": "https://other.example"}), {}),
    (raw(200, ""), {}),
    (raw(502, "<html><title>502 Bad Gateway</title></html>"), {}),
    (raw(429, "too many requests", {"retry-after": "60"}), {"retry": 1}),
    (raw(200, '{"jsonrpc":"2.0","id":1,"result":NaN}'), {}),
    (raw(200, '{"jsonrpc":"2.0","id":1,"result":1e999}'), {}),
    (raw(200, "[" * (MAX_DEPTH + 1)), {}),
    (with_member(id=7, result=1), {}),
    (raw(200, '{"result":1}'), {}),
    (with_member(error={"code": -32601, "message": "the method eth_blockNumber does not exist"}), {}),
    (
        lambda request, connection: connection.respond(200, {"id": 1, "result": "0x1"}, {"x-chain-id": "5"}),
        {"chain_id": 1},
    ),
    (
        lambda request, connection: connection.respond(200, {"id": 1, "result": "0x1"}, {"x-chain-id": "31337"}),
        {"chain_id": 1},
    ),
]

BATCH_RESPONSES: list[Any] = [
    [{"jsonrpc": "2.0", "id": 1, "result": 1}],
    [{"jsonrpc": "2.0", "id": 1, "result": 1}, {"jsonrpc": "2.0", "id": 7, "result": 1}],
    [{"jsonrpc": "2.0", "id": one, "result": 1} for one in (2, 2)],
    [{"jsonrpc": "2.0", "id": 1, "result": 1}, {"jsonrpc": "2.0", "id": 2, "error": {"code": 1}}],
    {"jsonrpc": "2.0", "id": "seven", "error": {"code": 1, "message": "no"}},
]


def call(
    script: Script, options: dict[str, Any], method: str = "eth_blockNumber", params: Any = ()
) -> Callable[[], Any]:
    def run() -> None:
        with FaultServer(script) as server, KeyrailProvider(url=server.url, **{"retry": False, **options}) as provider:
            provider.make_request(method, params)  # type: ignore[arg-type]

    return run


def call_batch(body: Any) -> list[str]:
    with (
        FaultServer(lambda request, connection: connection.respond(200, body)) as server,
        KeyrailProvider(url=server.url, retry=False) as provider,
    ):
        settled: list[Settled] = provider.batch_settled([("eth_blockNumber", []), ("eth_gasPrice", [])])
    return [str(one.error) for one in settled if one.error is not None]


def send(respond: Script) -> Callable[[], Any]:
    def script(request: ReceivedRequest, connection: Wire) -> None:
        if request.methods == ["eth_sendRawTransaction"]:
            respond(request, connection)
        else:
            connection.respond(200, {"jsonrpc": "2.0", "id": request.json["id"], "result": None})

    return call(script, {}, "eth_sendRawTransaction", [RAW])


def option_messages() -> Iterator[str]:
    for options in OPTIONS:
        yield get_message(partial(KeyrailProvider, **options))
    yield get_message(partial(KeyrailProvider, "https://node.example", KEY))
    yield get_message(lambda: asyncio.run(AsyncKeyrailProvider(**APP).cache_async_session(object())))
    yield from map(get_message, PARTS)
    for name, value in (("HTTPS_PROXY", "socks5://127.0.0.1"), ("REQUESTS_CA_BUNDLE", "/nowhere")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(name, value)
            yield get_message(partial(KeyrailProvider, **APP))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "opentelemetry.trace", None)
        yield get_message(partial(KeyrailProvider, **APP, tracing=True))
    with KeyrailProvider(**APP) as provider:
        yield get_message(lambda: pickle.dumps(provider))
        yield get_message(provider.stats)
        with call_options(min_block=100):
            yield get_message(partial(provider.make_request, RPCEndpoint("eth_blockNumber"), []))
        yield get_message(lambda: setattr(provider, "timeout_ms", 5))
        yield get_message(lambda: setattr(provider, "endpoint_uri", "https://node.example"))


def call_messages() -> Iterator[str]:
    yield get_message(lambda: sys.modules["keyrail"].provder)

    def fail() -> str:
        raise PermissionError(KEY)

    async def get_key() -> str:
        return str(await asyncio.sleep(0, KEY))

    for get in (fail, lambda: "", get_key):
        with KeyrailProvider(base_url="https://node.example", api_key=get) as provider:  # type: ignore[arg-type]
            yield get_message(partial(provider.make_request, RPCEndpoint("eth_blockNumber"), []))
    with KeyrailProvider(**APP) as provider:
        calls: list[Any] = [("", []), (7, []), ("eth_call", [object()])]
        for method, params in calls:
            yield get_message(partial(provider.make_request, method, params))
        batches: list[Any] = ["eth_blockNumber", [("eth_blockNumber", []), ("eth_call",)]]
        for requests in batches:
            yield get_message(partial(provider.batch_settled, requests))
        for transaction in (7, "hello", "0x03c3c80102"):
            yield get_message(partial(provider.make_request, RPCEndpoint("eth_sendRawTransaction"), [transaction]))


def response_messages() -> Iterator[str]:
    for script, options in RESPONSES:
        yield get_message(call(script, options))
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    for url in (f"http://127.0.0.1:{port}", "http://[1:2]"):
        with KeyrailProvider(url=url, retry=False) as provider:
            yield get_message(partial(provider.make_request, RPCEndpoint("eth_blockNumber"), []))
    yield get_message(lambda: split_url("node.example"))
    for body in BATCH_RESPONSES:
        yield from call_batch(body)
    yield get_message(send(reset))
    yield get_message(send(with_member(result="0x" + "11" * 32)))
    yield describe_error(ssl.SSLError())
    without_tls = ssl.SSLError()
    without_tls.reason = "WRONG_VERSION_NUMBER"
    yield describe_error(without_tls)
    yield describe_error(TunnelRejectedError(407))
    yield describe_ssl_problem(ssl.SSLError())


def read(server: ChainServer, **options: Any) -> Callable[[], Any]:
    def run() -> None:
        with KeyrailProvider(url=server.url, retry=False) as provider:
            list(logs(Web3(provider), **{"from_block": 0, "concurrency": 1, **options}))

    return run


def reject(message: str) -> Callable[[str, Any], None]:
    def before(method: str, _: Any) -> None:
        if method == "eth_getLogs":
            raise NodeError(-32005, message)

    return before


def failover_messages() -> Iterator[str]:
    circuit_breaker = CircuitBreaker(Breaker(), "https://node.example/…1234")
    yield str(circuit_breaker.create_rejection("eth_call"))
    yield str(create_lagging_failure("eth_call", 100, "https://node.example/…1234"))
    with FaultServer(raw(401, "unknown key")) as server, FaultServer(lambda request, wire: wire.hang()) as silent:
        endpoints = [Endpoint(server.url), Endpoint(silent.url), Endpoint(server.url)]
        failover = Failover(attempt_timeout_ms=1_500, breaker=Breaker(failures=1, open_ms=60_000))
        with KeyrailProvider(endpoints=endpoints, failover=failover) as provider:
            get_block = partial(provider.make_request, RPCEndpoint("eth_blockNumber"), [])
            yield get_message(get_block)
        failover = Failover(attempt_timeout_ms=300)
        with KeyrailProvider(endpoints=[Endpoint(silent.url)], failover=failover, retry=False) as provider:
            yield get_message(partial(provider.make_request, RPCEndpoint("eth_blockNumber"), []))
    with FaultServer() as server:

        def respond(request: ReceivedRequest, wire: Wire) -> None:
            wire.respond(200, {"jsonrpc": "2.0", "id": request.json["id"], "result": "0x1"}, {"x-chain-id": "5"})

        server.script = respond
        with KeyrailProvider(endpoints=[Endpoint(server.url)] * 2, chain_id=1) as provider:
            for _ in range(2):
                yield get_message(partial(provider.make_request, RPCEndpoint("eth_blockNumber"), []))


def budget_messages() -> Iterator[str]:
    with FaultServer() as server, KeyrailProvider(server.url, budget=Budget(requests_per_day=1)) as provider:
        get_block = partial(provider.make_request, RPCEndpoint("eth_blockNumber"), [])
        get_block()
        yield re.sub(r"next \d+ ms", "next 9999 ms", get_message(get_block))


def log_messages(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with ChainServer(20) as server:
        for options in LOG_OPTIONS:
            yield get_message(read(server, **options))
        server.before = reject("query returned more than 10000 results")
        yield get_message(read(server))
        server.before = reject("too many addresses")
        yield get_message(read(server))
    with ChainServer(20) as server:
        get = server.call
        server.call = lambda method, params: (  # type: ignore[method-assign]
            None if method == "eth_getBlockByNumber" else get(method, params)
        )
        yield get_message(read(server, to_block="finalized"))
        server.call = lambda method, params: (  # type: ignore[method-assign]
            get(method, [{"fromBlock": "0x0", "toBlock": "0x14"}]) if method == "eth_getLogs" else get(method, params)
        )
        yield get_message(read(server, to_block=3))
    with ChainServer([1]) as server:
        server.log_members = lambda *_: {"topics": [parse_event("Named(string name)").topic]}
        yield get_message(read(server, event="Named(string name)"))
    with ChainServer(20) as server:
        server.after = lambda method, _: server.reorg(3) if method == "eth_getLogs" else None
        yield get_message(read(server, check_reorg=True))
    with ChainServer([1] * 20) as server, KeyrailProvider(url=server.url, retry=False) as provider:
        iterator = logs(Web3(provider), from_block=0, check_reorg=True)
        list(iterator)
        server.reorg(3, 9)
        yield get_message(read(server, check_reorg=True, cursor=iterator.cursor))
    with ChainServer(20) as server, KeyrailProvider(url=server.url) as provider:
        iterator = logs(Web3(provider), from_block=0)
        next(iterator)
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            yield get_message(lambda: next(iterator))
    with ChainServer(20) as server, KeyrailProvider(url=server.url) as provider:
        make_request = provider.make_request

        def interrupt(method: Any, params: Any) -> Any:
            if method == "eth_getLogs":
                raise SystemExit
            return make_request(method, params)

        provider.make_request = interrupt  # type: ignore[method-assign]
        yield get_message(lambda: next(logs(Web3(provider), from_block=0, concurrency=2)))


def export_messages(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[str]:
    path = folder / "logs.parquet"

    def export(server: ChainServer, file: Any = path, **options: Any) -> str:
        def run() -> None:
            with KeyrailProvider(url=server.url, retry=False) as provider:
                logs(Web3(provider), **{"from_block": 0, **options}).to_parquet(file)

        return get_message(run).replace(f"{folder}/", "")

    with ChainServer(20) as server:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "pyarrow", None)
            yield export(server)
        yield export(server, 7)
        yield export(server, address="vitalik.eth")
        yield export(server, from_block=99)
        server.log_members = lambda number, index: {"data": "0xzz"}
        yield export(server)
        server.log_members = lambda number, index: {}
        server.before = reject("no healthy upstream")
        export(server)
        server.before = lambda method, params: None
        yield export(server, address="0x" + "11" * 20)
        with open(f"{path}.partial", "ab") as file:
            lock(file)
            yield export(server)
        server.reorg(10, 0)
        yield export(server)
        Path(f"{path}.cursor").write_text("{}")
        yield export(server)
        Path(f"{path}.cursor").unlink()
        path.touch()
        yield export(server)


def mock_messages() -> Iterator[str]:
    abi: list[dict[str, Any]] = [
        {"type": "function", "name": "pause", "inputs": []},
        {"type": "event", "name": "Filled", "inputs": [{"name": "ids", "type": "uint256[]", "indexed": True}]},
    ]
    address = "0x" + "11" * 20
    with MockNode() as node:
        wrong: list[Callable[[], Any]] = [
            lambda: MockNode(provider="acme"),  # type: ignore[arg-type]
            lambda: node.fail("aborted"),
            lambda: node.fail("trottled"),  # type: ignore[arg-type]
            lambda: node.fail("auth", times=0),
            lambda: node.mine(0),
            lambda: node.reorg(1),
            lambda: node.revert(7),
            lambda: node.set_balance("0x12", 1),
            lambda: node.emit(address, ["0x12"] * 5),
            lambda: node.mock_contract(address, abi, {"paws": 7}),
            lambda: node.mock_contract(address, abi).emit("Fill", {}),
            lambda: node.mock_contract(address, abi).emit("Filled", {"id": 7}),
            lambda: node.mock_contract(address, abi).emit("Filled", {"ids": [7]}),
            lambda: node.assert_called("eth_call", times=2),
        ]
        yield from map(get_message, wrong)


def subscription_messages(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    wrong: list[dict[str, Any]] = [
        {},
        {"blocks": False},
        {"pending": 1.5},
        {"logs": "0x11"},
        {"logs": {"adress": "0x11"}},
        {"blocks": True, "from_block": -1},
        {"blocks": True, "cursor": "{}"},
        {"blocks": True, "reorg_depth": 0},
        {"blocks": True, "polling_interval_ms": 0},
        {"blocks": True, "on_error": 5},
        {"pending": True, "from_block": 1},
    ]
    for options in wrong:
        yield get_message(partial(subscribe, AsyncKeyrailProvider(**APP), **options))
    yield get_message(partial(subscribe, Web3(), blocks=True))
    for failure in (out_of_order("A block"), too_deep(64), missing_block(5), ignored_cursor()):
        yield str(failure)
    for what, wanted in (
        ("block.number", "a hex quantity below 2^53"),
        ("block.hash", "0x and 64 hex digits"),
        ("logs", "an array"),
        ("logs", "limited to the requested blocks"),
        ("block", "the requested parent"),
        ("block.number", "the requested number"),
        ("the result of eth_getFilterChanges", "an array"),
    ):
        yield str(malformed(what, wanted))

    async def fail_socket(
        script: Callable[[Socket], Any] | None, status: int = 404, before_response: Sequence[str] = ()
    ) -> str:
        server = SubscriptionServer(Chain(), script)
        server.status = status
        server.before_response = [*before_response]
        async with server, AsyncKeyrailProvider(url=server.url) as provider:
            opened = await provider._open_socket()
            if isinstance(opened, KeyrailError):
                return str(opened)
            failure = await opened.subscribe(["newHeads"]) or await opened.receive(0.2)
            await opened.close()
            return str(failure)

    async def close(client: Socket) -> None:
        await client.ws.close(code=1012, message=b"service restart")

    async def send_text(client: Socket) -> None:
        await client.ws.send_str("hello, world")

    async def send_number(client: Socket) -> None:
        await client.ws.send_str('{"a": 1e999}')

    async def wait(_: Socket) -> None:
        await asyncio.sleep(1)

    for script, status in ((None, 404), (None, 503), (close, 101), (send_text, 101), (send_number, 101), (wait, 101)):
        yield asyncio.run(fail_socket(script, status))
    early = '{"method":"eth_subscription","params":{}}'
    yield asyncio.run(fail_socket(wait, 101, [early] * 1_001))
    monkeypatch.setattr("keyrail.transport.rpc_socket._TIMEOUT_S", 0.001)
    with socket.create_server(("127.0.0.1", 0)) as silent:

        async def connect() -> str:
            async with AsyncKeyrailProvider(f"http://127.0.0.1:{silent.getsockname()[1]}") as provider:
                return str(await provider._open_socket())

        yield asyncio.run(connect())


def persistent_provider_messages() -> Iterator[str]:
    yield get_message(lambda: KeyrailPersistentProvider(KeyrailProvider(**APP)))  # type: ignore[arg-type]
    yield get_message(lambda: KeyrailPersistentProvider(AsyncKeyrailProvider(**APP), on_error=5))  # type: ignore[arg-type]

    async def use() -> list[str]:
        provider = KeyrailPersistentProvider(AsyncKeyrailProvider(**APP))
        request = await provider.send_request(RPCEndpoint("eth_subscribe"), ["syncing"])
        response: Any = await provider.recv_for_request(request)
        messages = [response["error"]["message"]]
        try:
            await provider.socket_send(b"{}")
        except KeyrailError as failure:
            messages.append(str(failure))
        return messages

    yield from asyncio.run(use())


def hint_messages() -> Iterator[str]:
    for kind in HINTS:
        facts = Facts(kind=kind, text="…")  # type: ignore[arg-type]
        yield str(add_hint(create_failure(facts, method="eth_call", redacted_url="https://node.example")))
    misspelled = Facts(kind="methodUnavailable", text="…")
    yield str(add_hint(create_failure(misspelled, method="eth_blocknumber", redacted_url="https://node.example")))


def normalize(message: str) -> str:
    message = re.sub(r"http://127\.0\.0\.1:\d+", "https://node.example", message)
    return re.sub(r"only \d+ ms", "only 9999 ms", message)


def text_parts() -> Iterator[list[str]]:
    """Return the constant parts of every text in the sources, except docstrings and regular expressions."""
    for path in sorted(SOURCES.rglob("*.py")):
        # Most texts of the mock node are those of nodes.
        if path.parent.name == "testing":
            continue
        tree = ast.parse(path.read_text("utf-8"))
        ignored: set[int] = set()
        for node in ast.walk(tree):
            is_pattern = isinstance(node, ast.Call | ast.ListComp) and ast.unparse(node).lstrip("[").startswith("re.")
            is_type = isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias"
            # Nodes inside of f-strings are parts of them.
            inner = node.values if isinstance(node, ast.JoinedStr) else []
            for one in ast.walk(node) if is_pattern or is_type or isinstance(node, ast.Expr) else inner:
                ignored.add(id(one))
        for node in ast.walk(tree):
            if id(node) in ignored:
                continue
            if isinstance(node, ast.JoinedStr):
                yield [one.value for one in node.values if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield [node.value]


def is_shown(parts: list[str], snapshot: str) -> bool:
    pattern = ".*".join(re.escape(part.rstrip(".")) for part in parts)
    return re.search(pattern, snapshot, re.IGNORECASE) is not None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_every_error_message_is_in_the_snapshot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'keyrail[parquet]'")
    monkeypatch.setattr("keyrail.transport.safe_write.LOOK_MS", 1)
    sections = {
        "Options": option_messages(),
        "Calls": call_messages(),
        "Responses": response_messages(),
        "Failover": failover_messages(),
        "Budget": budget_messages(),
        "Logs": log_messages(monkeypatch),
        "Exports": export_messages(monkeypatch, tmp_path),
        "Subscriptions": subscription_messages(monkeypatch),
        "Persistent provider": persistent_provider_messages(),
        "Mock node": mock_messages(),
        "Hints": hint_messages(),
    }
    blocks = [[f"# {title}", "", *map(normalize, messages)] for title, messages in sections.items()]
    actual = "\n\n".join("\n".join(block) for block in blocks) + "\n"
    if os.environ.get("KEYRAIL_UPDATE"):
        SNAPSHOT.write_text(actual, "utf-8")
    expected = SNAPSHOT.read_text("utf-8") if SNAPSHOT.exists() else ""
    difference = "\n".join(difflib.unified_diff(expected.splitlines(), actual.splitlines(), lineterm="", n=0))
    assert actual == expected, f"errors.txt is out of date. If the new messages are good, run {UPDATE}\n{difference}"
    missing = [
        parts
        for parts in text_parts()
        if len(re.findall("[A-Za-z]{2,} ", "".join(parts))) >= 3
        and parts[0] not in NEVER_SHOWN
        and not is_shown(parts, actual)
    ]
    assert missing == [], f"no case of this file raises these messages: {json.dumps(missing, indent=1)}"
