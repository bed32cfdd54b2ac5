"""What servers and users do wrong, and where the key must not show."""

from __future__ import annotations

import asyncio
import gzip
import json
import pickle
import secrets
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer, Script, Seen, Wire
from leak_walk import leaks_of
from web3.exceptions import MethodUnavailable, RequestTimedOut, Web3RPCError

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])


def ask(kind: str, options: dict[str, Any], method: str = "eth_blockNumber", params: Any = ()) -> Any:
    """Make a call and give its result."""
    if kind == "sync":
        with KeyrailProvider(**options) as provider:
            return provider.make_request(method, list(params))["result"]  # type: ignore[arg-type]

    async def run() -> Any:
        async with AsyncKeyrailProvider(**options) as provider:
            return (await provider.make_request(method, list(params)))["result"]  # type: ignore[arg-type]

    return asyncio.run(run())


def failure_of(kind: str, options: dict[str, Any], method: str = "eth_blockNumber", params: Any = ()) -> KeyrailError:
    with pytest.raises(KeyrailError) as caught:
        ask(kind, options, method, params)
    return caught.value


def result(seen: Seen, value: Any = "0x1") -> str:
    return json.dumps({"jsonrpc": "2.0", "id": seen.json["id"], "result": value})


def dripping(write: Callable[[Seen, Wire], None]) -> Script:
    def script(seen: Seen, wire: Wire) -> None:
        write(seen, wire)
        wire.drip(b"a")

    return script


def in_head(_: Seen, wire: Wire) -> None:
    wire.send(b"HTTP/1.1 200 OK\r\nx-slow: ")


def in_body(_: Seen, wire: Wire) -> None:
    wire.head(200, {"content-type": "application/json"}, 100_000)


def in_chunk(_: Seen, wire: Wire) -> None:
    wire.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffff\r\n")


@BOTH
@pytest.mark.parametrize("where", [in_head, in_body, in_chunk])
def test_bytes_that_trickle_in_do_not_lengthen_the_time(kind: str, where: Any) -> None:
    with FaultServer(dripping(where)) as server:
        started = time.monotonic()
        failure = failure_of(kind, {"url": server.url, "timeout_ms": 400})
        assert failure.kind == "timeout"
        assert isinstance(failure, RequestTimedOut)
        assert "no answer within 400 ms" in str(failure)
        assert 0.35 < time.monotonic() - started < 1.5


@BOTH
@pytest.mark.parametrize("chunked", [False, True])
def test_an_answer_that_is_too_large_is_given_up_and_not_asked_again(kind: str, chunked: bool) -> None:
    def script(seen: Seen, wire: Wire) -> None:
        body = result(seen, "x" * 10_000).encode()
        if chunked:
            wire.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            wire.send(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
        else:
            wire.answer(200, body.decode())

    with FaultServer(script) as server:
        failure = failure_of(kind, {"url": server.url, "max_response_bytes": 5_000})
        assert (failure.kind, failure.retryable) == ("badResponse", False)
        assert "max_response_bytes" in str(failure)
        assert len(server.seen) == 1
        assert ask(kind, {"url": server.url, "max_response_bytes": 20_000}) == "x" * 10_000


@BOTH
def test_an_answer_may_be_packed_and_does_not_grow_over_the_limit(kind: str) -> None:
    def script(seen: Seen, wire: Wire) -> None:
        assert seen.headers["accept-encoding"] == "gzip"
        data = gzip.compress(result(seen, "x" * 3_000_000).encode())
        wire.head(200, {"content-encoding": "gzip"}, len(data))
        wire.send(data)

    with FaultServer(script) as server:
        assert ask(kind, {"url": server.url}) == "x" * 3_000_000
        assert failure_of(kind, {"url": server.url, "max_response_bytes": 1_000_000}).kind == "badResponse"


@BOTH
def test_where_nobody_listens_it_fails_after_its_retries_even_for_a_write(kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    options = {"url": f"http://127.0.0.1:{port}", "retry": {"retries": 2, "base_ms": 1}}
    failure = failure_of(kind, options, "eth_sendRawTransaction", ["0x02c0"])
    assert (failure.kind, failure.retryable, failure.source) == ("network", True, "transport")
    assert failure.transaction_hash is not None
    assert "refused" in str(failure)


@BOTH
def test_a_write_whose_connection_breaks_is_unconfirmed_with_its_hash(kind: str) -> None:
    def script(seen: Seen, wire: Wire) -> None:
        if seen.methods == ["eth_sendRawTransaction"]:
            wire.reset()
        wire.answer(200, result(seen, None))

    with FaultServer(script) as server:
        failure = failure_of(kind, {"url": server.url}, "eth_sendRawTransaction", ["0x02c0"])
        assert failure.kind == "unconfirmed"
        assert str(failure.transaction_hash) in str(failure)
        assert server.methods == ["eth_sendRawTransaction", "eth_getTransactionByHash", "eth_getTransactionByHash"]


@BOTH
def test_a_write_that_is_not_found_is_sent_again_where_that_is_allowed(kind: str) -> None:
    def script(seen: Seen, wire: Wire) -> None:
        if server.methods.count("eth_sendRawTransaction") == 1 and seen.methods == ["eth_sendRawTransaction"]:
            wire.reset()
        sent = failure_hash if seen.methods == ["eth_sendRawTransaction"] else None
        wire.answer(200, result(seen, sent))

    from keyrail.transport.transaction_hash import transaction_hash

    failure_hash = transaction_hash("0x02c0")
    with FaultServer(script) as server:
        sent = ask(kind, {"url": server.url, "resends": 1}, "eth_sendRawTransaction", ["0x02c0"])
        assert sent == failure_hash
        assert server.methods.count("eth_sendRawTransaction") == 2


@BOTH
def test_what_is_no_transaction_is_not_sent(kind: str) -> None:
    with FaultServer() as server:
        for raw in ("0x", "hello", None, 7, "0x0"):
            assert failure_of(kind, {"url": server.url}, "eth_sendRawTransaction", [raw]).kind == "invalidRequest"
        assert server.seen == []


@BOTH
def test_a_key_function_is_asked_for_each_attempt(kind: str) -> None:
    keys = [f"rotating-key-number-{at}" for at in range(3)]
    left = iter(keys)

    def script(seen: Seen, wire: Wire) -> None:
        # The second still speaks of the first.
        wire.answer(503 if len(server.seen) < 3 else 401, f"no {keys[0]} and no {seen.path}", {})

    with FaultServer(script) as server:
        options = {"base_url": server.url, "api_key": lambda: next(left), "retry": {"base_ms": 1}}
        failure = failure_of(kind, options)
        assert [seen.path for seen in server.seen] == [f"/v2/{key}" for key in keys]
        assert failure.kind == "auth"
        for key in keys:
            assert leaks_of(failure, key) == []


@BOTH
def test_what_a_key_function_raises_is_not_told(kind: str) -> None:
    key = "abcdefghijklmnop"

    def fails() -> str:
        raise RuntimeError(f"the vault says that {key} is old")

    for give in (fails, lambda: key + "/", lambda: None):
        failure = failure_of(kind, {"base_url": "http://127.0.0.1:9", "api_key": give})
        assert failure.kind == "invalidRequest"
        assert leaks_of(failure, key) == []


def test_an_asynchronous_key_function_is_awaited() -> None:
    async def give() -> str:
        await asyncio.sleep(0)
        return "a-key-from-a-vault"

    with FaultServer() as server:
        assert ask("async", {"rpc_url": server.url, "api_key": give, "jwt": give}) == "0x1"
        assert server.seen[0].path == "/a-key-from-a-vault"
        assert server.seen[0].headers["authorization"] == "Bearer a-key-from-a-vault"


@pytest.mark.parametrize("kind", [KeyrailProvider, AsyncKeyrailProvider])
@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout_ms": 0},
        {"timeout_ms": "$KEY"},
        {"retry": {"retires": 3}},
        {"batch": {"max_calls": 0}},
        {"network": "$KEY"},
        {"chain_id": "$KEY"},
        {"rpc_url": "http://127.0.0.1/$KEY"},
        {"base_url": "http://127.0.0.1/$KEY/"},
        {"api_key": "https://node.example/v2/$KEY"},
        {"jwt": "$KEY $KEY"},
        {"max_response_bytes": 1.5},
        {"timeoutMs": 5},
    ],
)
def test_a_wrong_option_is_refused_without_the_key(kind: Any, wrong: dict[str, Any]) -> None:
    key = "kr_a" + secrets.token_hex(20)
    given = {name: value.replace("$KEY", key) if isinstance(value, str) else value for name, value in wrong.items()}
    options: dict[str, Any] = {"base_url": "http://127.0.0.1:9", "api_key": key, **given}
    with pytest.raises(KeyrailError) as caught:
        kind(**options)
    assert caught.value.kind == "invalidRequest"
    assert leaks_of(caught.value, key) == []
    with pytest.raises(KeyrailError, match="pass url=") as bare:
        kind(f"http://127.0.0.1:9/{key}")
    assert leaks_of(bare.value, key) == []


def test_one_provider_serves_many_threads_over_few_connections() -> None:
    def script(seen: Seen, wire: Wire) -> None:
        time.sleep(0.002)
        wire.answer(200, result(seen, seen.json["params"][0]))

    with FaultServer(script) as server, KeyrailProvider(url=server.url, max_in_flight=4) as provider:

        def one(at: int) -> Any:
            return provider.make_request("eth_call", [hex(at)])["result"]  # type: ignore[arg-type]

        with ThreadPoolExecutor(16) as pool:
            assert list(pool.map(one, range(300))) == [hex(at) for at in range(300)]
        assert len({seen.connection for seen in server.seen}) <= 4


def test_asynchronous_calls_keep_connections() -> None:
    async def run(url: str) -> None:
        async with AsyncKeyrailProvider(url=url, max_in_flight=3) as provider:
            for _ in range(5):
                await asyncio.gather(*(provider.make_request("eth_chainId", [at]) for at in range(6)))  # type: ignore[arg-type]

    with FaultServer() as server:
        asyncio.run(run(server.url))
        assert len({seen.connection for seen in server.seen}) <= 3


def test_a_provider_is_used_in_several_loops() -> None:
    with FaultServer() as server:
        provider = AsyncKeyrailProvider(url=server.url)

        async def one() -> Any:
            async with provider:
                return (await provider.make_request("eth_blockNumber", []))["result"]  # type: ignore[arg-type]

        assert [asyncio.run(one()) for _ in range(3)] == ["0x1"] * 3


def test_a_failure_can_be_pickled_and_is_caught_as_web3_py_s_own() -> None:
    error = {"code": -32601, "message": "no such method"}
    with FaultServer(
        lambda seen, wire: wire.answer(200, {"jsonrpc": "2.0", "id": seen.json["id"], "error": error})
    ) as server:
        failure = failure_of("sync", {"url": server.url})
    assert isinstance(failure, MethodUnavailable)
    assert isinstance(failure, Web3RPCError)
    again: Any = pickle.loads(pickle.dumps(failure))
    assert isinstance(again, MethodUnavailable)
    assert isinstance(again, KeyrailError)
    assert (str(again), again.fields) == (str(failure), failure.fields)
    assert failure.rpc_error == error
    assert failure.hint


def test_nothing_goes_on_behind_a_provider_that_is_closed() -> None:
    before = threading.active_count()
    with FaultServer() as server:
        ask("sync", {"url": server.url})
        ask("async", {"url": server.url})
    assert threading.active_count() == before


@BOTH
def test_a_node_on_another_chain_is_told(kind: str) -> None:
    with FaultServer(lambda seen, wire: wire.answer(200, result(seen), {"x-chain-id": "5"})) as server:
        failure = failure_of(kind, {"url": server.url, "chain_id": 1})
        assert failure.kind == "wrongNetwork"
        assert len(server.seen) == 1


@BOTH
def test_a_chain_id_that_was_not_given_is_asked_once(kind: str) -> None:
    with FaultServer() as server:
        options: dict[str, Any] = {"url": server.url}
        if kind == "sync":
            with KeyrailProvider(**options) as provider:
                for _ in range(3):
                    provider.make_request("eth_chainId", [])  # type: ignore[arg-type]
        else:

            async def run() -> None:
                async with AsyncKeyrailProvider(**options) as provider:
                    for _ in range(3):
                        await provider.make_request("eth_chainId", [])  # type: ignore[arg-type]

            asyncio.run(run())
        assert server.methods == ["eth_chainId"]


@BOTH
def test_a_certificate_is_believed_only_where_it_is_known(kind: str, tmp_path: Path, monkeypatch: Any) -> None:
    certificate, private = tmp_path / "c.pem", tmp_path / "k.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run([*made, "-keyout", private, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    key = "kr_a" + secrets.token_hex(20)
    with FaultServer(tls=context) as server:
        url = server.url.replace("http://127.0.0.1", "https://localhost")
        options = {"base_url": url, "api_key": key, "retry": False}
        failure = failure_of(kind, options)
        assert failure.kind == "network"
        assert "TLS failed: self-signed certificate" in str(failure).replace("self signed", "self-signed")
        assert leaks_of(failure, key) == []
        assert server.seen == []
        if kind == "sync":
            # aiohttp keeps the certificates that were known when it was imported.
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
            assert ask(kind, options) == "0x1"
            assert server.seen[0].path == f"/v2/{key}"


@BOTH
def test_many_calls_are_cut_into_batches_and_each_reaches_its_own(kind: str) -> None:
    def script(seen: Seen, wire: Wire) -> None:
        answers = [{"jsonrpc": "2.0", "id": one["id"], "result": one["params"][0]} for one in reversed(seen.calls)]
        wire.answer(200, answers)

    requests = [("eth_call", [hex(at)]) for at in range(250)]
    with FaultServer(script) as server:
        if kind == "sync":
            with KeyrailProvider(url=server.url) as provider:
                settled = provider.batch_settled(requests)
        else:

            async def run() -> Any:
                async with AsyncKeyrailProvider(url=server.url) as provider:
                    return await provider.batch_settled(requests)

            settled = asyncio.run(run())
        assert [one.value for one in settled] == [hex(at) for at in range(250)]
        assert sorted(len(seen.calls) for seen in server.seen) == [50, 100, 100]
