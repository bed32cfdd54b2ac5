"""A WebSocket uses the same settings as requests, and shows the key to nobody else."""

from __future__ import annotations

import asyncio
import logging
import ssl
from base64 import b64encode
from hashlib import sha1
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from leak_walk import find_leaks
from proxy_server import ProxyServer
from raw_server import RawServer
from subscription_server import Chain, Socket, SubscriptionServer

from keyrail import AsyncKeyrailProvider, KeyrailError

KEY = "kr_a" + "k3Y" * 13
SECRET = "p@ss-word"


async def notify(client: Socket) -> None:
    await client.notify(result={"number": "0x1"})
    await asyncio.sleep(30)


async def receive(server: SubscriptionServer, **options: Any) -> dict[str, Any] | KeyrailError:
    """Subscribe, and return the first notification or the failure."""
    async with AsyncKeyrailProvider(base_url=server.url, api_key=KEY, **options) as provider:
        socket = await provider._open_socket()
        if isinstance(socket, KeyrailError):
            return socket
        try:
            return await socket.subscribe(["newHeads"]) or await socket.receive(30)
        finally:
            await socket.close()


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("proxy_tls", [None, False, True])
def test_a_web_socket_uses_the_proxy_and_the_tls_settings(
    tls: bool, proxy_tls: bool | None, certificate: tuple[Path, ssl.SSLContext]
) -> None:
    async def run() -> None:
        async with SubscriptionServer(Chain(), notify, certificate[1] if tls else None) as server:
            # websockets 15 does not decode the password for a proxy with TLS.
            password = "password" if proxy_tls else SECRET
            with ProxyServer(f"user:{password}", tls=certificate[1] if proxy_tls else None) as proxy:
                context = ssl.create_default_context(cafile=str(certificate[0]))
                given = proxy.url.replace("//", f"//user:{quote(password)}@")
                options = {} if proxy_tls is None else {"proxy": given}
                received = await receive(server, ssl_context=context, **options)
                assert received == {"subscription": "0xabc", "result": {"number": "0x1"}}
                assert server.paths == [f"/v2/{KEY}"]
                assert server.headers[0]["User-Agent"] == "keyrail-python"
                # A tunnel, as RFC 6455 section 4.1 says, so the proxy does not see the key.
                lines = [lines[0] for lines in proxy.received]
                assert lines == ([] if proxy_tls is None else [f"CONNECT {server.url.partition('//')[2]} HTTP/1.1"])
                assert find_leaks(proxy.received, KEY) == []

    asyncio.run(run())


@pytest.mark.parametrize("proxy_tls", [False, True])
def test_a_web_socket_uses_a_proxy_with_a_user_without_a_password(
    proxy_tls: bool, certificate: tuple[Path, ssl.SSLContext]
) -> None:
    async def run() -> None:
        async with SubscriptionServer(Chain(), notify) as server:
            with ProxyServer("token:", tls=certificate[1] if proxy_tls else None) as proxy:
                context = ssl.create_default_context(cafile=str(certificate[0]))
                received = await receive(server, ssl_context=context, proxy=proxy.url.replace("//", "//token@"))
                assert received == {"subscription": "0xabc", "result": {"number": "0x1"}}
                assert len(proxy.received) == 1

    asyncio.run(run())


def test_a_proxy_that_rejects_the_password_is_named() -> None:
    async def run() -> None:
        async with SubscriptionServer(Chain(), notify) as server:
            with ProxyServer("user:other") as proxy:
                failure = await receive(server, proxy=proxy.url.replace("//", f"//user:{quote(SECRET)}@"))
        assert isinstance(failure, KeyrailError)
        assert failure.kind == "network"
        assert "the proxy responded with HTTP 407" in str(failure)
        assert server.paths == []
        for secret in (KEY, SECRET):
            assert find_leaks(failure, secret) == []

    asyncio.run(run())


def test_a_redirect_is_not_followed() -> None:
    async def run() -> None:
        async with SubscriptionServer(Chain(), notify) as other, SubscriptionServer(Chain()) as server:
            server.status, server.location = 302, f"{other.url.replace('http', 'ws')}/other"
            failure = await receive(server)
        assert isinstance(failure, KeyrailError)
        assert (failure.kind, failure.status) == ("methodUnavailable", 302)
        assert other.paths == []
        assert find_leaks(failure, KEY) == []

    asyncio.run(run())


def test_a_message_that_is_too_large_ends_the_connection() -> None:
    async def send(client: Socket) -> None:
        await client.notify(result="x" * 2_000)
        await client.ws.receive()

    async def run() -> None:
        async with SubscriptionServer(Chain(), send) as server:
            failure = await receive(server, max_response_bytes=1_024)
        assert isinstance(failure, KeyrailError)
        assert (failure.kind, failure.retryable) == ("network", True)
        assert "the connection was closed (code 1009" in str(failure)

    asyncio.run(run())


def test_a_connection_that_breaks_is_a_failure() -> None:
    async def abort(client: Socket) -> None:
        transport = client.ws._req.transport  # type: ignore[union-attr]
        assert transport is not None
        transport.abort()

    async def run() -> None:
        async with SubscriptionServer(Chain(), abort) as server:
            failure = await receive(server)
        assert isinstance(failure, KeyrailError)
        assert "the connection was closed (code 1006)" in str(failure)

    asyncio.run(run())


@pytest.mark.parametrize("proxied", [False, True])
def test_a_server_that_does_not_respond_leaves_no_connection(monkeypatch: pytest.MonkeyPatch, proxied: bool) -> None:
    monkeypatch.setattr("keyrail.transport.rpc_socket._TIMEOUT_S", 0.2)
    ended: list[bytes] = []

    async def run() -> None:
        def serve(sock: Any, _: int) -> None:
            while sock.recv(65_536):
                pass
            ended.append(b"")

        with RawServer(serve) as silent:
            url = "http://localhost:9" if proxied else silent.url
            async with AsyncKeyrailProvider(url, proxy=silent.url if proxied else False) as provider:
                failure = await provider._open_socket()
            assert isinstance(failure, KeyrailError)
            assert failure.kind == "timeout"
            while not ended:
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(run(), 60))


def test_no_log_shows_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def run() -> None:
        async with SubscriptionServer(Chain(), notify) as server:
            assert isinstance(await receive(server), dict)

    asyncio.run(run())
    ours = [record for record in caplog.records if not record.name.startswith("aiohttp")]
    assert find_leaks([record.getMessage() for record in ours], KEY) == []


def test_a_close_that_is_cancelled_leaves_no_connection() -> None:
    ended: list[bytes] = []

    def serve(sock: Any, _: int) -> None:
        request = sock.recv(65_536)
        key = request.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
        accept = b64encode(sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11", usedforsecurity=False).digest())
        sock.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
        )
        # It does not respond to the close frame.
        while sock.recv(65_536):
            pass
        ended.append(b"")

    async def run() -> None:
        with RawServer(serve) as server:
            async with AsyncKeyrailProvider(server.url) as provider:
                socket = await provider._open_socket()
                assert not isinstance(socket, KeyrailError)
                closing = asyncio.ensure_future(socket.close())
                await asyncio.sleep(0)
                closing.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await closing
                # Less than the time until a ping without a response ends it.
                async with asyncio.timeout(15):
                    while not ended:
                        await asyncio.sleep(0.01)

    asyncio.run(run())
