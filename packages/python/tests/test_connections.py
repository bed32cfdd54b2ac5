"""Headers, proxies and TLS settings work in the same way for both providers."""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import uvloop
from fault_server import Connection, FaultServer, ReceivedRequest
from leak_walk import find_leaks
from proxy_server import ProxyServer
from raw_server import RawServer, read_head

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider
from keyrail.transport.async_connection import AsyncConnection
from keyrail.transport.connection_settings import create_connection_settings

KEY = "kr_a" + "k3Y" * 13
SECRET = "hunter2-hunter2-hunter2"
BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")


def create(kind: str, **options: Any) -> Any:
    return KeyrailProvider(**options) if kind == "sync" else AsyncKeyrailProvider(**options)


def call(kind: str, times: int = 1, **options: Any) -> list[Any]:
    """Make calls one after another. A function as an option becomes asynchronous for the asynchronous provider."""
    if kind == "sync":
        with KeyrailProvider(retry=False, **options) as provider:
            return [provider.make_request("eth_gasPrice", [])["result"] for _ in range(times)]  # type: ignore[arg-type]

    async def run() -> list[Any]:
        async with AsyncKeyrailProvider(retry=False, **options) as provider:
            return [(await provider.make_request("eth_gasPrice", []))["result"] for _ in range(times)]  # type: ignore[arg-type]

    return asyncio.run(run())


@pytest.fixture
def tls_server(certificate: tuple[Path, ssl.SSLContext]) -> Iterator[FaultServer]:
    with FaultServer(tls=certificate[1]) as server:
        yield server


def tls_url(server: FaultServer) -> str:
    return server.url.replace("http://127.0.0.1", "https://localhost")


# Headers


@BOTH
def test_headers_are_sent_with_each_request(kind: str) -> None:
    with FaultServer() as server:
        headers = {"X-Team": "wallet", "User-Agent": "exporter/1", "authorization": f"Token {SECRET}"}
        assert call(kind, 2, url=server.url, headers=headers) == ["0x1", "0x1"]
        for request in server.requests:
            assert request.headers["x-team"] == "wallet"
            assert request.headers["user-agent"] == "exporter/1"
            assert request.headers["authorization"] == f"Token {SECRET}"
            assert request.headers["content-type"] == "application/json"
        assert call(kind, url=server.url) == ["0x1"]
        assert server.requests[-1].headers["user-agent"] == "keyrail-python"
        assert "x-team" not in server.requests[-1].headers


@BOTH
def test_a_function_returns_the_headers_of_each_request(kind: str) -> None:
    given = iter(["first-token", "second-token"])

    def get() -> dict[str, str]:
        return {"x-token": next(given)}

    async def get_later() -> dict[str, str]:
        await asyncio.sleep(0)
        return get()

    for function in (get,) if kind == "sync" else (get, get_later):
        given = iter(["first-token", "second-token"])
        with FaultServer() as server:
            call(kind, 2, url=server.url, headers=function)
            assert [request.headers["x-token"] for request in server.requests] == ["first-token", "second-token"]


@BOTH
def test_a_header_value_is_in_no_error(kind: str) -> None:
    def echo(request: ReceivedRequest, connection: Connection) -> None:
        connection.respond(403, f"no access for {request.headers['x-token']}")

    with FaultServer(echo) as server:
        provider = create(kind, url=server.url, headers={"x-token": SECRET})
        assert find_leaks(provider, SECRET) == []
        with pytest.raises(KeyrailError) as caught:
            call(kind, url=server.url, headers={"x-token": SECRET})
    assert caught.value.kind == "forbidden"
    assert "no access for …" in str(caught.value)
    assert find_leaks(caught.value, SECRET) == []


WRONG_HEADERS: list[tuple[Any, str]] = [
    ("x: y", 'headers must be a dict such as {"x-team": "wallet"}, not a value of type str.'),
    ({"a b": "c"}, 'headers contains a name with characters that HTTP does not allow. Use letters, digits and "-".'),
    ({1: "c"}, 'headers contains a name with characters that HTTP does not allow. Use letters, digits and "-".'),
    ({"Content-Length": "5"}, 'headers contains "content-length", which the HTTP client sets. Remove it.'),
    ({"x-a": "b", "X-A": "c"}, 'headers contains "X-A" twice, in different letter case. Remove one.'),
    (
        {"x-a": ""},
        'The header "x-a" must be a string that is not empty. If it comes from an environment variable, check that it is set.',
    ),
    (
        {"x-a": f"{SECRET}\r\nx-b: c"},
        'The header "x-a" contains a line break or another character that HTTP does not allow. Copy its value again.',
    ),
]


@BOTH
@pytest.mark.parametrize(("headers", "message"), WRONG_HEADERS, ids=range(len(WRONG_HEADERS)))
def test_wrong_headers_are_rejected(kind: str, headers: Any, message: str) -> None:
    with pytest.raises(KeyrailError) as caught:
        create(kind, url="http://127.0.0.1:9", headers=headers)
    assert str(caught.value) == message
    assert find_leaks(caught.value, SECRET) == []
    with pytest.raises(KeyrailError) as caught:
        call(kind, url="http://127.0.0.1:9", headers=lambda: headers)
    assert message in str(caught.value)
    assert find_leaks(caught.value, SECRET) == []


@BOTH
def test_only_one_option_sets_the_authorization(kind: str) -> None:
    headers = {"Authorization": SECRET}
    for options, owner in (
        ({"url": "http://127.0.0.1:9", "jwt": "a.b.c"}, "jwt"),
        ({"url": "http://user:password@127.0.0.1:9"}, "the URL"),
    ):
        with pytest.raises(KeyrailError) as caught:
            create(kind, **options, headers=headers)
        assert str(caught.value) == f'headers contains "authorization", which {owner} sets too. Remove one of them.'


# Proxies

# What the URL has before the host, and what the proxy gets.
PROXY_CREDENTIALS = [(None, None), ("user:p%40ss-word", "user:p@ss-word"), ("token", "token:"), ("", None)]


@BOTH
@pytest.mark.parametrize(("credentials", "expected"), PROXY_CREDENTIALS)
def test_a_proxy_forwards_plain_requests(kind: str, credentials: str | None, expected: str | None) -> None:
    with FaultServer() as server, ProxyServer(expected) as proxy:
        given = proxy.url if credentials is None else proxy.url.replace("//", f"//{credentials}@")
        assert call(kind, 2, base_url=server.url, api_key=KEY, proxy=given) == ["0x1", "0x1"]
        assert proxy.received[0][0] == f"POST {server.url}/v2/{KEY} HTTP/1.1"
        assert server.requests[0].headers["host"] == server.url.removeprefix("http://")
        # The proxy removes the origin of the first request only.
        assert [request.path.removeprefix(server.url) for request in server.requests] == [f"/v2/{KEY}"] * 2


@BOTH
@pytest.mark.parametrize(("credentials", "expected"), PROXY_CREDENTIALS)
def test_a_proxy_opens_a_tunnel_for_tls(
    kind: str,
    credentials: str | None,
    expected: str | None,
    tls_server: FaultServer,
    certificate: tuple[Path, ssl.SSLContext],
) -> None:
    context = ssl.create_default_context(cafile=str(certificate[0]))
    with ProxyServer(expected) as proxy:
        given = proxy.url if credentials is None else proxy.url.replace("//", f"//{credentials}@")
        options = {"base_url": tls_url(tls_server), "api_key": KEY, "ssl_context": context, "proxy": given}
        assert call(kind, 2, **options) == ["0x1", "0x1"]
        # One tunnel, through which the proxy sees neither the key nor the headers.
        ((line, *_),) = proxy.received
        assert line.startswith(f"CONNECT {tls_url(tls_server).removeprefix('https://')} HTTP/1.")
        assert find_leaks(proxy.received, KEY) == []
        assert tls_server.requests[0].path == f"/v2/{KEY}"


@BOTH
@pytest.mark.parametrize("tls", [False, True])
def test_a_proxy_may_have_tls_itself(
    kind: str, tls: bool, tls_server: FaultServer, certificate: tuple[Path, ssl.SSLContext]
) -> None:
    context = ssl.create_default_context(cafile=str(certificate[0]))
    options: dict[str, Any] = {"api_key": KEY, "ssl_context": context}
    with FaultServer() as server, ProxyServer(tls=certificate[1]) as proxy:
        target = tls_server if tls else server
        assert call(kind, 2, base_url=tls_url(target) if tls else target.url, proxy=proxy.url, **options) == ["0x1"] * 2
        assert len(proxy.received) == 1
        assert proxy.received[0][0].split()[0] == ("CONNECT" if tls else "POST")
        assert target.requests[0].path.endswith(f"/v2/{KEY}")


@BOTH
@pytest.mark.parametrize(
    ("proxy_tls", "end"),
    [
        *[(False, end) for end in ("nothing", "close", "other data")],
        *[(True, end) for end in ("nothing", "close", "close notify", "other data")],
    ],
)
def test_a_tunnel_that_ends_is_a_failure_and_leaves_no_connection(
    kind: str,
    proxy_tls: bool,
    end: str,
    certificate: tuple[Path, ssl.SSLContext],
) -> None:
    def serve(sock: socket.socket, _: int) -> None:
        read_head(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + (b"HTTP/1.1 200 OK\r\n\r\n" if end == "other data" else b""))
        if end == "nothing":
            proxy.closed.wait(60)
        if end == "close notify":
            sock.unwrap()  # type: ignore[attr-defined]
        sock.close()

    timeout_ms = 500 if end == "nothing" else 60_000
    context = ssl.create_default_context(cafile=str(certificate[0]))
    with RawServer(serve, certificate[1] if proxy_tls else None) as proxy:
        for _ in range(2):
            with pytest.raises(KeyrailError) as caught:
                call(kind, url="https://localhost:9", proxy=proxy.url, ssl_context=context, timeout_ms=timeout_ms)
            assert caught.value.kind == ("timeout" if end == "nothing" else "network")
    gc.collect()
    assert [one for one in gc.get_objects() if isinstance(one, AsyncConnection)] == []


def test_closing_a_provider_ends_a_call_that_opens_a_tunnel(certificate: tuple[Path, ssl.SSLContext]) -> None:
    tunneled = threading.Event()

    def serve(sock: socket.socket, _: int) -> None:
        read_head(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        sock.recv(1)
        tunneled.set()
        proxy.closed.wait(60)

    async def run() -> KeyrailError:
        context = ssl.create_default_context(cafile=str(certificate[0]))
        provider = AsyncKeyrailProvider("https://localhost:9", proxy=proxy.url, retry=False, ssl_context=context)
        task = asyncio.create_task(provider.make_request("eth_gasPrice", []))  # type: ignore[arg-type]
        await asyncio.to_thread(tunneled.wait, 60)
        await provider.close()
        with pytest.raises(KeyrailError) as caught:
            await task
        await provider.close()
        return caught.value

    with RawServer(serve) as proxy:
        assert asyncio.run(run()).kind == "network"


class LoopWithoutWatchers(asyncio.SelectorEventLoop):
    """A loop that cannot watch sockets, as the default one of Windows."""

    def _fail(self, *_: object) -> None:
        raise NotImplementedError

    add_reader = add_writer = _fail  # type: ignore[assignment]


LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
    "without watchers": LoopWithoutWatchers,
}


@pytest.mark.parametrize("kind", ["sync", *LOOPS])
@pytest.mark.parametrize("tls", [False, True])
def test_a_response_before_the_request_was_sent_ends_the_connection(
    kind: str, tls: bool, certificate: tuple[Path, ssl.SSLContext]
) -> None:
    def serve(sock: socket.socket, number: int) -> None:
        head = read_head(sock)
        if number == 1:
            sock.sendall(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
            server.closed.wait(60)
            return
        body = json.loads(head.partition(b"\r\n\r\n")[2] or sock.recv(65_536))
        response = json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": "0x1"}).encode()
        sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(response), response))

    context = ssl.create_default_context(cafile=str(certificate[0]))
    large: Any = ("eth_call", [{"data": "0x" + "00" * 8_000_000}])
    small: Any = ("eth_gasPrice", [])

    async def run() -> None:
        async with AsyncKeyrailProvider(server.url, retry=False, ssl_context=context) as provider:
            with pytest.raises(KeyrailError, match="HTTP 413"):
                await provider.make_request(*large)
            assert (await provider.make_request(*small))["result"] == "0x1"

    with RawServer(serve, certificate[1] if tls else None) as server:
        if kind == "sync":
            with KeyrailProvider(server.url, retry=False, ssl_context=context) as provider:
                with pytest.raises(KeyrailError, match="HTTP 413"):
                    provider.make_request(*large)
                assert provider.make_request(*small)["result"] == "0x1"
        else:
            with asyncio.Runner(loop_factory=LOOPS[kind]) as runner:
                runner.run(run())
        assert server.connections == 2


@BOTH
def test_a_server_may_renegotiate_tls_while_a_request_is_sent(
    kind: str, certificate: tuple[Path, ssl.SSLContext]
) -> None:
    path = certificate[0]
    context = ssl.create_default_context(cafile=str(path))
    body = '{"jsonrpc":"2.0","result":"0x1"}'
    command = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-naccept", "1", "-tls1_2", "-crlf"]
    command += ["-cert", str(path), "-key", str(path.with_name("k.pem"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        while not (line := server.stdout.readline()).startswith(b"ACCEPT"):
            assert line
        url = f"https://localhost:{line.strip().rpartition(b':')[2].decode()}"

        def send() -> Any:
            method: Any = "eth_call"
            params: Any = [{"data": "00" * 8_000_000}]
            if kind == "sync":
                with KeyrailProvider(url, retry=False, ssl_context=context) as provider:
                    return provider.make_request(method, params)["result"]

            async def run() -> Any:
                async with AsyncKeyrailProvider(url, retry=False, ssl_context=context) as provider:
                    return (await provider.make_request(method, params))["result"]

            return asyncio.run(run())

        with ThreadPoolExecutor(1) as pool:
            try:
                sent = pool.submit(send)
                # The server prints what it receives. It cannot receive the rest while nobody reads what it prints.
                printed = os.read(server.stdout.fileno(), 4_096)
                while b"POST" not in printed:
                    printed += os.read(server.stdout.fileno(), 4_096)
                # It starts a new handshake.
                server.stdin.write(b"r\n")
                server.stdin.flush()
                while b'"}]}' not in printed:
                    piece = os.read(server.stdout.fileno(), 65_536)
                    assert piece, "the server ended the connection"
                    printed = printed[-9:] + piece
                server.stdin.write(f"HTTP/1.1 200 OK\ncontent-length: {len(body)}\n\n{body}\n".encode())
                server.stdin.flush()
                assert sent.result() == "0x1"
            finally:
                server.kill()


@BOTH
@pytest.mark.parametrize("name", ["GoodAddresses.remember", "_set_options"])
def test_a_connection_that_the_server_ends_at_once_is_closed(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    socks: list[socket.socket] = []

    def fail(*given: Any) -> None:
        socks.append(given[-1])
        raise OSError(errno.ENOTCONN, "")

    monkeypatch.setattr(f"keyrail.transport.open_socket.{name}", fail)
    with FaultServer() as server, pytest.raises(KeyrailError, match="not connected") as caught:
        call(kind, url=server.url)
    assert caught.value.kind == "network"
    assert [sock.fileno() for sock in socks] == [-1]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("tls", [False, True])
def test_large_requests_and_responses_work_on_each_event_loop(
    loop: str, tls: bool, certificate: tuple[Path, ssl.SSLContext]
) -> None:
    def echo(request: ReceivedRequest, connection: Connection) -> None:
        connection.respond(200, {"jsonrpc": "2.0", "id": request.json["id"], "result": request.json["params"][0]})

    async def run() -> None:
        options: dict[str, Any] = {"retry": False, "ssl_context": ssl.create_default_context(cafile=certificate[0])}
        async with AsyncKeyrailProvider(tls_url(server) if tls else server.url, **options) as provider:
            for length in (1, 3_000_000, 1):
                values = [str(at) * length for at in range(2)]
                calls = (provider.make_request("eth_call", [value]) for value in values)  # type: ignore[arg-type]
                assert [response["result"] for response in await asyncio.gather(*calls)] == values
            # The server closes the idle connections.
            server.close_connections()
            assert (await provider.make_request("eth_call", ["a"]))["result"] == "a"  # type: ignore[arg-type]

    with FaultServer(echo, certificate[1] if tls else None) as server:
        with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
            runner.run(run())
        assert len({request.connection for request in server.requests}) == 3


@BOTH
@pytest.mark.parametrize("tls", [False, True])
def test_a_proxy_that_rejects_the_password_is_named(
    kind: str, tls: bool, tls_server: FaultServer, certificate: tuple[Path, ssl.SSLContext]
) -> None:
    context = ssl.create_default_context(cafile=str(certificate[0]))
    with FaultServer() as server, ProxyServer("user:other") as proxy:
        url = tls_url(tls_server) if tls else server.url
        given = proxy.url.replace("//", f"//user:{SECRET}@")
        with pytest.raises(KeyrailError) as caught:
            call(kind, base_url=url, api_key=KEY, proxy=given, ssl_context=context)
        assert server.requests == tls_server.requests == []
    if tls:
        assert caught.value.kind == "network"
        assert "the proxy responded with HTTP 407" in str(caught.value)
    else:
        assert caught.value.status == 407
    for secret in (KEY, SECRET):
        assert find_leaks(caught.value, secret) == []


@BOTH
def test_the_environment_names_the_proxy(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultServer() as server, ProxyServer() as proxy:
        for name, value in (("HTTP_PROXY", proxy.url), ("ALL_PROXY", f"127.0.0.1:{proxy.port}")):
            monkeypatch.setenv(name, value)
            before = len(proxy.received)
            assert call(kind, url=server.url) == ["0x1"]
            assert len(proxy.received) == before + 1
            # An option goes before the environment.
            assert call(kind, url=server.url, proxy=False) == ["0x1"]
            monkeypatch.setenv("NO_PROXY", "127.0.0.1")
            assert call(kind, url=server.url) == ["0x1"]
            assert len(proxy.received) == before + 1
            monkeypatch.delenv("NO_PROXY")
            monkeypatch.delenv(name)
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
        assert call(kind, url=server.url) == ["0x1"]


@pytest.mark.parametrize(
    ("no_proxy", "host", "bypasses"),
    [
        ("10.0.0.0/8", "10.1.2.3", True),
        ("192.168.0.0/16, 10.0.0.0/8", "10.1.2.3:8545", True),
        ("10.1.2.3", "10.1.2.3:8545", True),
        ("10.1.2.3:8545", "user:password@10.1.2.3:8545", True),
        ("10.1.2.3:8545", "10.1.2.3:8546", False),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.0.0.0/33,,x/y", "10.1.2.3", False),
        ("10.0.0.0/8", "10.example", False),
        ("fd00::/8", "[fd00::5]:8545", True),
        ("[fd00::5]", "[fd00::5]", True),
        ("fd00::/8", "10.1.2.3", False),
        (".example", "node.example", True),
        ("node.example", "node.example.", True),
        ("*", "10.1.2.3", True),
    ],
)
def test_no_proxy_names_hosts_and_ranges(
    no_proxy: str, host: str, bypasses: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    for name in ("NO_PROXY", "no_proxy"):
        with monkeypatch.context() as patched:
            patched.setenv(name, no_proxy)
            proxy = create_connection_settings(f"http://{host}/v2/{KEY}").proxy
        assert proxy == (None if bypasses else "http://proxy.example:3128")


@BOTH
@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1080", "127.0.0.1:3128", "http://", 8080, "http://a b", True])
def test_a_wrong_proxy_is_rejected(kind: str, proxy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rest = "must be a URL such as http://host:3128 or http://user:password@host:3128."
    with pytest.raises(KeyrailError) as caught:
        create(kind, url="http://127.0.0.1:9", proxy=proxy)
    assert str(caught.value) == f"proxy {rest}"
    monkeypatch.setenv("HTTP_PROXY", f"socks5://user:{SECRET}@127.0.0.1:1080")
    with pytest.raises(KeyrailError) as caught:
        create(kind, url="http://127.0.0.1:9")
    assert str(caught.value) == f"The proxy in the environment (HTTPS_PROXY, HTTP_PROXY or ALL_PROXY) {rest}"
    assert find_leaks(caught.value, SECRET) == []


@BOTH
def test_the_credentials_of_a_proxy_are_not_attributes(kind: str) -> None:
    provider = create(kind, url="http://127.0.0.1:9", proxy=f"http://user:{SECRET}@127.0.0.1:9")
    assert find_leaks(provider, SECRET) == []
    with pytest.raises(KeyrailError) as caught:
        call(kind, url="http://127.0.0.1:9", proxy=f"http://user:{SECRET}@127.0.0.1:9")
    assert caught.value.kind == "network"
    assert find_leaks(caught.value, SECRET) == []


# TLS


@BOTH
@pytest.mark.parametrize("bundle", [*BUNDLES, "ssl_context"])
def test_certificates_come_from_the_option_or_the_environment(
    kind: str,
    bundle: str,
    tls_server: FaultServer,
    certificate: tuple[Path, ssl.SSLContext],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(KeyrailError, match=r"TLS failed: self[- ]signed"):
        call(kind, url=tls_url(tls_server))
    options: dict[str, Any] = {}
    if bundle == "ssl_context":
        options["ssl_context"] = ssl.create_default_context(cafile=str(certificate[0]))
        # The option goes before the environment.
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere")
    else:
        monkeypatch.setenv(bundle, str(certificate[0]))
    assert call(kind, url=tls_url(tls_server), **options) == ["0x1"]


@BOTH
def test_a_folder_of_certificates_is_read(
    kind: str,
    tls_server: FaultServer,
    certificate: tuple[Path, ssl.SSLContext],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = ["openssl", "x509", "-hash", "-noout", "-in", str(certificate[0])]
    name = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    (tmp_path / f"{name}.0").write_bytes(certificate[0].read_bytes())
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path))
    assert call(kind, url=tls_url(tls_server)) == ["0x1"]


@BOTH
def test_a_bundle_that_cannot_be_read_is_an_error(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "missing.pem"))
    with pytest.raises(KeyrailError) as caught:
        create(kind, url="https://127.0.0.1:9")
    assert str(caught.value) == "REQUESTS_CA_BUNDLE names a file that does not exist. Correct it, or pass ssl_context."
    (tmp_path / "broken.pem").write_text("no certificate")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "broken.pem"))
    with pytest.raises(
        KeyrailError, match="the certificates in REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE cannot be read"
    ) as caught:
        call(kind, url="https://127.0.0.1:9")
    assert caught.value.kind == "invalidRequest"


@BOTH
def test_a_wrong_ssl_context_is_rejected(kind: str) -> None:
    with pytest.raises(KeyrailError) as caught:
        create(kind, url="https://127.0.0.1:9", ssl_context="/etc/ssl/ca.pem")
    assert str(caught.value) == (
        "ssl_context must be an ssl.SSLContext, such as ssl.create_default_context(cafile=…), not a value of type str."
    )


def test_no_certificates_are_read_without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> Callable[[], None]:
        raise AssertionError("certificates were read")

    monkeypatch.setattr(ssl, "create_default_context", fail)
    with FaultServer() as server:
        for kind in ("sync", "async"):
            assert call(kind, url=server.url) == ["0x1"]
