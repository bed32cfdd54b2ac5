"""Responses that are unusual in HTTP, and the deadline of each step of a request."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import gzip
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest
from leak_walk import find_leaks
from raw_server import RawServer, read_head

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider
from keyrail.transport.async_connections import AsyncConnections
from keyrail.transport.open_socket import GoodAddresses
from keyrail.transport.request_target import Address, Route
from keyrail.transport.response_reader import ResponseReader, decompress
from keyrail.transport.steps import now_ms

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
SECRET = "hunter2-hunter2-hunter2"


def call(
    kind: str,
    between: Callable[[], None] | None = None,
    times: int = 1,
    params: Sequence[Any] = (),
    **options: Any,
) -> list[Any]:
    """Make calls one after another."""
    results: list[Any] = []
    method: Any = "eth_gasPrice"
    if kind == "sync":
        with KeyrailProvider(retry=False, **options) as provider:
            for at in range(times):
                if at and between:
                    between()
                results.append(provider.make_request(method, params)["result"])
        return results

    async def run() -> None:
        async with AsyncKeyrailProvider(retry=False, **options) as provider:
            for at in range(times):
                if at and between:
                    await asyncio.to_thread(between)
                results.append((await provider.make_request(method, params))["result"])

    asyncio.run(run())
    return results


def write(request: ReceivedRequest, result: str = "0x1", request_id: int | None = None) -> bytes:
    body = {"jsonrpc": "2.0", "id": request_id or request.json["id"], "result": result}
    data = json.dumps(body).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(data), data)


class SlowSocket:
    """A socket whose operations take as long as the test says, on a clock of its own."""

    now_s = 1_000.0
    send_s = 0.0
    receive_s = 0.0
    received = 0

    def __init__(self) -> None:
        self._timeout = 0.0

    def settimeout(self, timeout: float) -> None:
        self._timeout = timeout

    def close(self) -> None:
        pass

    def _take(self, seconds: float) -> None:
        type(self).now_s += min(seconds, self._timeout)
        if seconds > self._timeout:
            raise TimeoutError("timed out")

    def send(self, data: bytes) -> int:
        self._take(self.send_s)
        return len(data)

    def recv(self, _: int) -> bytes:
        self._take(self.receive_s)
        type(self).received += 1
        head = b"HTTP/1.1 200 OK\r\nx-long: " + b"a" * 100
        return head[self.received - 1 : self.received]


# Responses


@BOTH
@pytest.mark.parametrize(
    "interim",
    [
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\nlink: </b>\r\n\r\n",
        b"HTTP/1.1 102 Processing\r\n\r\n" * 3,
    ],
)
def test_an_interim_response_is_not_taken_for_the_response(kind: str, interim: bytes) -> None:
    with FaultServer(lambda request, connection: connection.send(interim + write(request))) as server:
        assert call(kind, times=2, url=server.url) == ["0x1", "0x1"]
        assert [request.connection for request in server.requests] == [1, 1]


@BOTH
def test_what_the_server_sends_on_an_idle_connection_is_not_the_next_response(kind: str) -> None:
    connections: list[tuple[ReceivedRequest, Connection]] = []

    def script(request: ReceivedRequest, connection: Connection) -> None:
        connections.append((request, connection))
        connection.send(write(request))

    def send_too_early() -> None:
        request, connection = connections[0]
        connection.send(write(request, "0xbad", request.json["id"] + 1))

    with FaultServer(script) as server:
        assert call(kind, send_too_early, times=2, url=server.url) == ["0x1", "0x1"]
        assert [request.connection for request in server.requests] == [1, 2]


@BOTH
@pytest.mark.parametrize("data", [b"SSH-2.0-OpenSSH\r\n", b"\x15\x03\x01\x00\x02\x02\x28", b"HTTP/1.1 abc\r\n\r\n"])
def test_a_response_that_is_not_http_is_not_called_a_closed_connection(kind: str, data: bytes) -> None:
    def script(_: ReceivedRequest, connection: Connection) -> None:
        connection.send(data)
        raise OSError

    with FaultServer(script) as server, pytest.raises(KeyrailError, match="the response is not valid HTTP") as caught:
        call(kind, url=server.url)
    assert caught.value.kind == "network"


@BOTH
def test_a_server_without_tls_is_named(kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def respond() -> None:
            sock, _ = listener.accept()
            with sock:
                sock.recv(9_999)
                sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        async def run() -> None:
            responding = asyncio.to_thread(respond)
            url = f"https://127.0.0.1:{listener.getsockname()[1]}"
            await asyncio.gather(responding, asyncio.to_thread(call, kind, url=url))

        with pytest.raises(KeyrailError, match="without TLS: use http, or the port that has TLS"):
            asyncio.run(run())


@BOTH
def test_a_host_that_does_not_exist_is_named(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(KeyrailError, match="Name or service not known"):
        call(kind, url="http://nowhere.example")


@BOTH
@pytest.mark.parametrize("url", [f"http://{'a' * 64}.example", "http://a..example"])
def test_a_host_that_cannot_exist_is_a_wrong_url(kind: str, url: str) -> None:
    with pytest.raises(KeyrailError, match="the HTTP library rejected the URL") as caught:
        call(kind, url=url)
    assert caught.value.kind == "invalidRequest"


@BOTH
def test_a_response_that_closes_the_connection_before_the_request_is_sent_is_read(kind: str) -> None:
    def serve(sock: socket.socket, _: int) -> None:
        read_head(sock)
        sock.sendall(b"HTTP/1.1 413 Payload Too Large\r\ncontent-length: 9\r\n\r\ntoo large")
        # The client cannot send the rest of its request, and can still read the response.
        sock.shutdown(socket.SHUT_RDWR)
        server.closed.wait(60)

    with RawServer(serve) as server:
        with pytest.raises(KeyrailError, match="too large") as caught:
            call(kind, params=[{"data": "00" * 8_000_000}], url=server.url)
        assert caught.value.status == 413


# What is sent


@BOTH
def test_members_of_an_enum_are_sent_as_their_values(kind: str) -> None:
    class Setting(str, Enum):  # noqa: UP042
        KEY = "kr_a-value-of-the-key"
        TOKEN = "a-value.of-a.token"

    with FaultServer() as server:
        call(kind, base_url=server.url, api_key=Setting.KEY, jwt=Setting.TOKEN, headers={"x-team": Setting.TOKEN})
        call(kind, base_url=server.url, api_key=lambda: Setting.KEY, jwt=lambda: Setting.TOKEN)
        for request in server.requests:
            assert request.path == f"/v2/{Setting.KEY.value}"
            assert request.headers["authorization"] == f"Bearer {Setting.TOKEN.value}"
        assert server.requests[0].headers["x-team"] == Setting.TOKEN.value


@BOTH
@pytest.mark.parametrize(
    ("proxy", "message"),
    [
        (
            f"http://user:{SECRET}%E2%82%AC@127.0.0.1:9",
            "proxy has credentials with characters outside Latin-1, which HTTP cannot send. Use another user name or password.",
        ),
        (
            f"http://user:{SECRET}@127.0.0.1:99999",
            "proxy must be a URL such as http://host:3128 or http://user:password@host:3128.",
        ),
        (
            f"http://user:{SECRET}@a\x01b:9",
            "proxy must be a URL such as http://host:3128 or http://user:password@host:3128.",
        ),
    ],
)
def test_the_password_of_a_wrong_proxy_is_in_no_error(kind: str, proxy: str, message: str) -> None:
    provider = KeyrailProvider if kind == "sync" else AsyncKeyrailProvider
    with pytest.raises(KeyrailError) as caught:
        provider("http://127.0.0.1:9", proxy=proxy)
    assert str(caught.value) == message
    assert find_leaks(caught.value.__traceback__, SECRET) == []


@BOTH
@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://127.0.0.1:65536", "url has a port above 65,535. Correct it."),
        ("http://[::1]:99999/", "url has a port above 65,535. Correct it."),
        (
            "http://a\x00b",
            "url is not a valid URL. Check its host, port and credentials; it should look like https://host/path.",
        ),
    ],
)
def test_a_url_that_no_library_accepts_is_rejected_at_once(kind: str, url: str, message: str) -> None:
    provider = KeyrailProvider if kind == "sync" else AsyncKeyrailProvider
    with pytest.raises(KeyrailError) as caught:
        provider(url)
    assert str(caught.value) == message


# Idle connections of the asynchronous provider


def test_a_write_is_not_sent_on_a_connection_that_ended_while_the_loop_was_busy() -> None:
    from keyrail.transport.transaction_hash import compute_transaction_hash

    ended = threading.Event()
    tx_hash = str(compute_transaction_hash("0x02c0"))

    def script(request: ReceivedRequest, connection: Connection) -> None:
        connection.send(write(request, tx_hash))
        if len(server.requests) == 1:
            connection.sock.shutdown(socket.SHUT_RDWR)
            ended.set()

    async def run() -> Any:
        async with AsyncKeyrailProvider(server.url, retry=False) as provider:
            await provider.make_request("eth_gasPrice", [])  # type: ignore[arg-type]
            # The loop cannot notice the end of the connection.
            assert ended.wait(60)
            return (await provider.make_request("eth_sendRawTransaction", ["0x02c0"]))["result"]  # type: ignore[arg-type]

    with FaultServer(script) as server:
        assert asyncio.run(run()) == tx_hash
        assert server.methods == ["eth_gasPrice", "eth_sendRawTransaction"]


def test_connections_that_are_idle_for_long_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 1_000.0
    monkeypatch.setattr("keyrail.transport.steps.time", SimpleNamespace(monotonic=lambda: now_s))
    route = Route(Address("a.example", 80, False), Address("a.example", 80, False), None)

    class FakeConnection:
        is_open = True
        used_at = 0.0

        def is_unused(self, _: object) -> bool:
            return True

        def close(self) -> None:
            self.is_open = False

    async def run() -> None:
        nonlocal now_s
        own = AsyncConnections(64, ssl.create_default_context, GoodAddresses())
        early, late = (FakeConnection(), FakeConnection())
        for connection in (early, late):
            own.give_back(route, connection, ResponseReader(0))  # type: ignore[arg-type]
            now_s += 10
        timer = own._expiry
        assert timer is not None
        timer.cancel()
        own._expire()
        assert (early.is_open, late.is_open) == (False, True)
        now_s += 10
        own._expire()
        assert not late.is_open
        assert own._expiry is None

    asyncio.run(run())


# Addresses


@pytest.fixture
def silent_server() -> Iterator[tuple[str, int]]:
    """The address of a server that ignores attempts to connect, because its queue is full."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.2", 0), backlog=0))
        address: tuple[str, int] = listener.getsockname()
        for _ in range(3):
            filling = stack.enter_context(socket.socket())
            filling.setblocking(False)
            filling.connect_ex(address)
        yield address


class Attempts:
    """Replaces the resolver, and records to which hosts connections are attempted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *addresses: tuple[str, int]) -> None:
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in addresses]
        hosts = self.hosts = []
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)

        class Recorded(socket.socket):
            def connect(self, address: Any) -> None:
                hosts.append(address[0])
                super().connect(address)

            def connect_ex(self, address: Any) -> int:
                hosts.append(address[0])
                return super().connect_ex(address)

        monkeypatch.setattr(socket, "socket", Recorded)

    hosts: list[str]


@BOTH
def test_the_next_address_is_tried_while_one_does_not_respond(
    kind: str, silent_server: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultServer() as server:
        attempts = Attempts(monkeypatch, silent_server, silent_server, ("127.0.0.1", server.port))
        # A share of this time limit would be minutes.
        options: dict[str, Any] = {"url": f"http://a.example:{server.port}", "timeout_ms": 600_000}
        assert call(kind, server.close_connections, times=2, **options) == ["0x1"] * 2
        # The second connection is opened to the address that worked.
        assert attempts.hosts == [silent_server[0], silent_server[0], "127.0.0.1", "127.0.0.1"]


@BOTH
def test_the_next_address_is_tried_at_once_when_one_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultServer() as server:
        attempts = Attempts(monkeypatch, ("127.0.0.3", server.port), ("127.0.0.1", server.port))
        assert call(kind, url=f"http://a.example:{server.port}") == ["0x1"]
        assert attempts.hosts == ["127.0.0.3", "127.0.0.1"]


@BOTH
def test_an_address_that_does_not_respond_ends_at_the_time_limit(
    kind: str, silent_server: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    Attempts(monkeypatch, silent_server, silent_server)
    with pytest.raises(KeyrailError) as caught:
        call(kind, url="http://a.example", timeout_ms=300)
    assert (caught.value.kind, caught.value.retryable) == ("timeout", True)


@BOTH
@pytest.mark.skipif(not hasattr(socket, "TCP_KEEPIDLE"), reason="this system has other options")
def test_idle_connections_are_probed(kind: str) -> None:
    """A connection into a black hole must not be used for the next request."""
    options: list[int] = []

    def read_options() -> None:
        for sock in (one for one in gc.get_objects() if isinstance(one, socket.socket)):
            with contextlib.suppress(OSError):
                if sock.getpeername() == ("127.0.0.1", server.port):
                    names = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
                    options.append(sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))
                    options.extend(sock.getsockopt(socket.IPPROTO_TCP, name) for name in names)

    with FaultServer() as server:
        call(kind, read_options, times=2, url=server.url)
    assert options == [1, 1, 1, 3]


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((errno.ECONNREFUSED, errno.ECONNREFUSED), "Connection refused"),
        ((errno.ENETUNREACH, errno.ECONNREFUSED), "No route to host"),
    ],
)
def test_addresses_that_cannot_be_reached_have_one_message(
    numbers: tuple[int, int], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter(numbers)

    async def connect(_: object, __: socket.socket, address: tuple[str, int]) -> None:
        raise OSError(next(left), f"Connect call failed {address}")

    monkeypatch.setattr(asyncio.SelectorEventLoop, "sock_connect", connect)
    addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"192.0.2.{at}", 80)) for at in range(2)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
    with pytest.raises(KeyrailError, match=message):
        call("async", url="http://a.example")


# Deadlines. The asynchronous provider has one timer for all steps after it is connected.


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> type[SlowSocket]:
    class Slow(SlowSocket):
        pass

    monkeypatch.setattr("keyrail.transport.steps.time", SimpleNamespace(monotonic=lambda: Slow.now_s))
    monkeypatch.setattr("keyrail.transport.connection.open_socket", lambda *_: Slow())
    return Slow


def expect_timeout_after(seconds: float, slow: type[SlowSocket]) -> None:
    started = slow.now_s
    with pytest.raises(KeyrailError) as caught:
        call("sync", url="http://a.example", timeout_ms=1_000)
    assert caught.value.kind == "timeout"
    assert slow.now_s - started == pytest.approx(seconds, abs=0.002)


def test_sending_and_receiving_share_the_time_limit(slow: type[SlowSocket]) -> None:
    slow.send_s, slow.receive_s = 0.7, 60
    expect_timeout_after(1, slow)


def test_many_empty_members_of_gzip_end_at_the_deadline() -> None:
    data = gzip.compress(b"") * 10
    assert decompress(data, 100, now_ms() + 60_000) == b""
    with pytest.raises(TimeoutError):
        decompress(data, 100, now_ms() - 1)


def test_parts_of_a_response_share_the_time_limit(slow: type[SlowSocket]) -> None:
    slow.receive_s = 0.3
    expect_timeout_after(1, slow)
