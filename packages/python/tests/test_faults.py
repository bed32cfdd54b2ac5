"""Mistakes of servers and users, and places where the key must not appear."""

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
from fault_server import Connection, FaultServer, ReceivedRequest, Script
from leak_walk import find_leaks
from web3.exceptions import MethodUnavailable, RequestTimedOut, Web3RPCError

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])


def call(kind: str, options: dict[str, Any], method: str = "eth_blockNumber", params: Any = ()) -> Any:
    """Make a call and return its result."""
    if kind == "sync":
        with KeyrailProvider(**options) as provider:
            return provider.make_request(method, list(params))["result"]  # type: ignore[arg-type]

    async def run() -> Any:
        async with AsyncKeyrailProvider(**options) as provider:
            return (await provider.make_request(method, list(params)))["result"]  # type: ignore[arg-type]

    return asyncio.run(run())


def get_failure(kind: str, options: dict[str, Any], method: str = "eth_blockNumber", params: Any = ()) -> KeyrailError:
    with pytest.raises(KeyrailError) as caught:
        call(kind, options, method, params)
    return caught.value


def result(request: ReceivedRequest, value: Any = "0x1") -> str:
    return json.dumps({"jsonrpc": "2.0", "id": request.json["id"], "result": value})


@pytest.mark.parametrize(
    ("method", "hint"),
    [
        ("eth_blocknumber", 'Did you mean "eth_blockNumber"?'),
        ("eth_getLog", 'Did you mean "eth_getLogs"?'),
        ("eth_getTransactionReciept", 'Did you mean "eth_getTransactionReceipt"?'),
        ("eth_getBlock", 'Did you mean "eth_getBlockByHash"?'),
        ("eth_sendRawTransacton", 'Did you mean "eth_sendRawTransaction"?'),
        # Methods of wallets and bundlers, and one that exists but is not offered, are spelled correctly.
        ("eth_requestAccounts", "Check its spelling, or use another endpoint."),
        ("eth_getUserOperationByHash", "Check its spelling, or use another endpoint."),
        ("debug_traceCall", "Check its spelling, or use another endpoint."),
    ],
)
def test_a_misspelled_method_fails_with_the_nearest_name(method: str, hint: str) -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        error = {"code": -32601, "message": f"the method {method} does not exist/is not available"}
        connection.respond(200, {"jsonrpc": "2.0", "id": request.json["id"], "error": error})

    with FaultServer(script) as server:
        failure = get_failure("sync", {"url": server.url}, method)
    assert (failure.kind, failure.hint) == ("methodUnavailable", hint)
    assert str(failure).endswith(f". {hint}")


def dripping(write: Callable[[ReceivedRequest, Connection], None]) -> Script:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        write(request, connection)
        connection.drip(b"a")

    return script


def in_head(_: ReceivedRequest, connection: Connection) -> None:
    connection.send(b"HTTP/1.1 200 OK\r\nx-slow: ")


def in_body(_: ReceivedRequest, connection: Connection) -> None:
    connection.head(200, {"content-type": "application/json"}, 100_000)


def in_chunk(_: ReceivedRequest, connection: Connection) -> None:
    connection.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffff\r\n")


@BOTH
@pytest.mark.parametrize("where", [in_head, in_body, in_chunk])
def test_a_slowly_dripping_response_does_not_extend_the_timeout(kind: str, where: Any) -> None:
    with FaultServer(dripping(where)) as server:
        started = time.monotonic()
        failure = get_failure(kind, {"url": server.url, "timeout_ms": 400})
        assert failure.kind == "timeout"
        assert isinstance(failure, RequestTimedOut)
        assert "no response within 400 ms" in str(failure)
        assert time.monotonic() - started > 0.35


@BOTH
@pytest.mark.parametrize("chunked", [False, True])
def test_a_response_over_the_size_limit_fails_without_a_retry(kind: str, chunked: bool) -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        body = result(request, "x" * 10_000).encode()
        if chunked:
            connection.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            connection.send(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
        else:
            connection.respond(200, body.decode())

    with FaultServer(script) as server:
        failure = get_failure(kind, {"url": server.url, "max_response_bytes": 5_000})
        assert (failure.kind, failure.retryable) == ("badResponse", False)
        assert "max_response_bytes" in str(failure)
        assert len(server.requests) == 1
        assert call(kind, {"url": server.url, "max_response_bytes": 20_000}) == "x" * 10_000


@BOTH
def test_gzip_responses_are_decoded_and_limited_by_their_decoded_size(kind: str) -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        assert request.headers["accept-encoding"] == "gzip"
        data = gzip.compress(result(request, "x" * 3_000_000).encode())
        connection.head(200, {"content-encoding": "gzip"}, len(data))
        connection.send(data)

    with FaultServer(script) as server:
        assert call(kind, {"url": server.url}) == "x" * 3_000_000
        assert get_failure(kind, {"url": server.url, "max_response_bytes": 1_000_000}).kind == "badResponse"


# Older versions of aiohttp read only the first member.
def test_a_gzip_response_may_have_several_members() -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        text = result(request, "x" * 1_000).encode()
        data = gzip.compress(text[:500]) + gzip.compress(text[500:])
        connection.head(200, {"content-encoding": "gzip"}, len(data))
        connection.send(data)

    with FaultServer(script) as server:
        assert call("sync", {"url": server.url}) == "x" * 1_000


@BOTH
def test_a_damaged_gzip_response_is_a_failure(kind: str) -> None:
    complete = gzip.compress(secrets.token_hex(1_000).encode())
    for body in (complete[:-20], b"not gzip"):

        def script(_: ReceivedRequest, connection: Connection, body: bytes = body) -> None:
            connection.head(200, {"content-encoding": "gzip"}, len(body))
            connection.send(body)

        with FaultServer(script) as server:
            failure = get_failure(kind, {"url": server.url, "retry": False})
        assert (failure.kind, failure.retryable, failure.source) == ("badResponse", True, "transport")
    assert "the response cannot be decoded" in str(failure)


@BOTH
def test_a_refused_connection_is_retried_even_for_a_write(kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    options = {"url": f"http://127.0.0.1:{port}", "retry": {"retries": 2, "base_ms": 1}}
    failure = get_failure(kind, options, "eth_sendRawTransaction", ["0x02c0"])
    assert (failure.kind, failure.retryable, failure.source) == ("network", True, "transport")
    assert failure.transaction_hash is not None
    assert "refused" in str(failure)


@BOTH
def test_a_write_with_a_broken_connection_is_unconfirmed(kind: str) -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        if request.methods == ["eth_sendRawTransaction"]:
            connection.reset()
        connection.respond(200, result(request, None))

    with FaultServer(script) as server:
        failure = get_failure(kind, {"url": server.url}, "eth_sendRawTransaction", ["0x02c0"])
        assert failure.kind == "unconfirmed"
        assert str(failure.transaction_hash) in str(failure)
        assert server.methods == ["eth_sendRawTransaction", "eth_getTransactionByHash", "eth_getTransactionByHash"]


@BOTH
def test_resends_sends_a_missing_transaction_again(kind: str) -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        if server.methods.count("eth_sendRawTransaction") == 1 and request.methods == ["eth_sendRawTransaction"]:
            connection.reset()
        sent = tx_hash if request.methods == ["eth_sendRawTransaction"] else None
        connection.respond(200, result(request, sent))

    from keyrail.transport.transaction_hash import compute_transaction_hash

    tx_hash = compute_transaction_hash("0x02c0")
    with FaultServer(script) as server:
        sent = call(kind, {"url": server.url, "resends": 1}, "eth_sendRawTransaction", ["0x02c0"])
        assert sent == tx_hash
        assert server.methods.count("eth_sendRawTransaction") == 2


@BOTH
def test_an_invalid_transaction_is_not_sent(kind: str) -> None:
    with FaultServer() as server:
        for raw in ("0x", "hello", None, 7, "0x0"):
            assert get_failure(kind, {"url": server.url}, "eth_sendRawTransaction", [raw]).kind == "invalidRequest"
        assert server.requests == []


@BOTH
def test_the_key_function_is_called_for_each_attempt(kind: str) -> None:
    keys = [f"rotating-key-number-{at}" for at in range(3)]
    left = iter(keys)

    def script(request: ReceivedRequest, connection: Connection) -> None:
        # Later responses still contain the first key.
        connection.respond(503 if len(server.requests) < 3 else 401, f"no {keys[0]} and no {request.path}", {})

    with FaultServer(script) as server:
        options = {"base_url": server.url, "api_key": lambda: next(left), "retry": {"base_ms": 1}}
        failure = get_failure(kind, options)
        assert [request.path for request in server.requests] == [f"/v2/{key}" for key in keys]
        assert failure.kind == "auth"
        for key in keys:
            assert find_leaks(failure, key) == []


@BOTH
def test_the_message_of_a_key_function_s_exception_is_not_shown(kind: str) -> None:
    key = "abcdefghijklmnop"

    def fails() -> str:
        raise RuntimeError(f"{key} is expired")

    for get_key in (fails, lambda: key + "/", lambda: None):
        failure = get_failure(kind, {"base_url": "http://127.0.0.1:9", "api_key": get_key})
        assert failure.kind == "invalidRequest"
        assert find_leaks(failure, key) == []


def test_an_asynchronous_key_function_is_awaited() -> None:
    async def get_key() -> str:
        await asyncio.sleep(0)
        return "a-key-from-a-vault"

    with FaultServer() as server:
        assert call("async", {"rpc_url": server.url, "api_key": get_key, "jwt": get_key}) == "0x1"
        assert server.requests[0].path == "/a-key-from-a-vault"
        assert server.requests[0].headers["authorization"] == "Bearer a-key-from-a-vault"


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
def test_a_wrong_option_is_rejected_without_showing_the_key(kind: Any, wrong: dict[str, Any]) -> None:
    key = "kr_a" + secrets.token_hex(20)
    options_given = {
        name: value.replace("$KEY", key) if isinstance(value, str) else value for name, value in wrong.items()
    }
    options: dict[str, Any] = {"base_url": "http://127.0.0.1:9", "api_key": key, **options_given}
    with pytest.raises(KeyrailError) as caught:
        kind(**options)
    assert caught.value.kind == "invalidRequest"
    assert find_leaks(caught.value, key) == []


def test_threads_share_a_provider_and_its_connections() -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        time.sleep(0.002)
        connection.respond(200, result(request, request.json["params"][0]))

    with FaultServer(script) as server, KeyrailProvider(url=server.url, max_in_flight=4) as provider:

        def one(at: int) -> Any:
            return provider.make_request("eth_call", [hex(at)])["result"]  # type: ignore[arg-type]

        with ThreadPoolExecutor(16) as pool:
            assert list(pool.map(one, range(300))) == [hex(at) for at in range(300)]
        assert len({request.connection for request in server.requests}) <= 4


def test_asynchronous_calls_reuse_connections() -> None:
    async def run(url: str) -> None:
        async with AsyncKeyrailProvider(url=url, max_in_flight=3) as provider:
            for _ in range(5):
                await asyncio.gather(*(provider.make_request("eth_chainId", [at]) for at in range(6)))  # type: ignore[arg-type]

    with FaultServer() as server:
        asyncio.run(run(server.url))
        assert len({request.connection for request in server.requests}) <= 3


def test_a_provider_works_in_several_loops() -> None:
    with FaultServer() as server:
        provider = AsyncKeyrailProvider(url=server.url)

        async def one() -> Any:
            async with provider:
                return (await provider.make_request("eth_blockNumber", []))["result"]  # type: ignore[arg-type]

        assert [asyncio.run(one()) for _ in range(3)] == ["0x1"] * 3


def test_a_failure_can_be_pickled_and_is_a_web3_exception() -> None:
    error = {"code": -32601, "message": "no such method"}
    with FaultServer(
        lambda request, connection: connection.respond(
            200, {"jsonrpc": "2.0", "id": request.json["id"], "error": error}
        )
    ) as server:
        failure = get_failure("sync", {"url": server.url})
    assert isinstance(failure, MethodUnavailable)
    assert isinstance(failure, Web3RPCError)
    copy: Any = pickle.loads(pickle.dumps(failure))
    assert isinstance(copy, MethodUnavailable)
    assert isinstance(copy, KeyrailError)
    assert (str(copy), copy.fields) == (str(failure), failure.fields)
    assert failure.rpc_error == error
    assert failure.hint


def test_a_closed_provider_leaves_no_thread() -> None:
    before = threading.active_count()
    with FaultServer() as server:
        call("sync", {"url": server.url})
        call("async", {"url": server.url})
    assert threading.active_count() == before


@BOTH
def test_a_node_on_another_chain_is_a_failure(kind: str) -> None:
    with FaultServer(
        lambda request, connection: connection.respond(200, result(request), {"x-chain-id": "5"})
    ) as server:
        failure = get_failure(kind, {"url": server.url, "chain_id": 1})
        assert failure.kind == "wrongNetwork"
        assert len(server.requests) == 1


@BOTH
def test_the_chain_id_is_requested_once(kind: str) -> None:
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
def test_an_unknown_certificate_is_rejected(kind: str, tmp_path: Path, monkeypatch: Any) -> None:
    certificate, private = tmp_path / "c.pem", tmp_path / "k.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run([*command, "-keyout", private, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    key = "kr_a" + secrets.token_hex(20)
    with FaultServer(tls=context) as server:
        url = server.url.replace("http://127.0.0.1", "https://localhost")
        options = {"base_url": url, "api_key": key, "retry": False}
        failure = get_failure(kind, options)
        assert failure.kind == "network"
        assert "TLS failed: self-signed certificate" in str(failure).replace("self signed", "self-signed")
        assert find_leaks(failure, key) == []
        assert server.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert call(kind, options) == "0x1"
        assert server.requests[0].path == f"/v2/{key}"


@BOTH
def test_many_calls_are_divided_into_batches(kind: str) -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        responses = [{"jsonrpc": "2.0", "id": one["id"], "result": one["params"][0]} for one in reversed(request.calls)]
        connection.respond(200, responses)

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
        assert sorted(len(request.calls) for request in server.requests) == [50, 100, 100]
