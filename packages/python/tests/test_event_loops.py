"""An asynchronous provider in many event loops leaves nothing open (item 24 of the list of known faults)."""

from __future__ import annotations

import asyncio
import gc
import os
import ssl
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer, Seen, Wire
from leak_walk import TESTS
from web3 import AsyncWeb3

from keyrail import AsyncKeyrailProvider

LOOPS = 15
needs_fds = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="file descriptors cannot be listed")


def echo(seen: Seen, wire: Wire) -> None:
    wire.answer(200, {"jsonrpc": "2.0", "id": seen.json["id"], "result": seen.json["params"][0]})


async def calls(provider: AsyncKeyrailProvider, count: int = 4) -> None:
    answers = await asyncio.gather(*(provider.make_request("eth_call", [at]) for at in range(count)))  # type: ignore[arg-type]
    assert [answer["result"] for answer in answers] == list(range(count))


def client_sockets(server: FaultServer) -> int:
    """Count the connections of this process to the server, whether or not the other side has closed them."""
    port = int(server.url.rpartition(":")[2])
    mine = set()
    for name in os.listdir("/proc/self/fd"):
        # A thread of the server may just have closed it.
        with suppress(FileNotFoundError):
            mine.add(os.readlink(f"/proc/self/fd/{name}"))
    rows = [line.split() for line in Path("/proc/self/net/tcp").read_text("ascii").splitlines()[1:]]
    # The table changes while it is read, and may list a row twice.
    return len({row[9] for row in rows if row[2].endswith(f":{port:04X}") and f"socket:[{row[9]}]" in mine})


@needs_fds
def test_many_runs_with_one_provider_leave_no_connection() -> None:
    with FaultServer(echo) as server:
        provider = AsyncKeyrailProvider(url=server.url)
        for _ in range(LOOPS):
            asyncio.run(calls(provider))
            assert client_sockets(server) == 0


@needs_fds
def test_many_runs_of_an_asynchronous_web3_leave_no_connection() -> None:
    with FaultServer(lambda seen, wire: echo(Seen("", {}, {**seen.json, "params": ["0x5"]}, 0), wire)) as server:
        w3 = AsyncWeb3(AsyncKeyrailProvider(url=server.url))

        async def number() -> int:
            return await w3.eth.block_number

        assert [asyncio.run(number()) for _ in range(LOOPS)] == [5] * LOOPS
        assert client_sockets(server) == 0


@needs_fds
def test_loops_that_are_closed_by_hand_leave_the_connections_of_the_last_one_at_most() -> None:
    with FaultServer(echo) as server:
        provider = AsyncKeyrailProvider(url=server.url)
        for _ in range(LOOPS):
            loop = asyncio.new_event_loop()
            loop.run_until_complete(calls(provider))
            loop.close()
            assert client_sockets(server) <= 4
        del provider
        gc.collect()
        assert client_sockets(server) == 0


@needs_fds
def test_a_loop_that_is_closed_with_calls_in_flight_leaves_no_connection() -> None:
    def script(seen: Seen, wire: Wire) -> None:
        if seen.json["params"] == ["hang"]:
            wire.hang()
        echo(seen, wire)

    with FaultServer(script) as server:
        provider = AsyncKeyrailProvider(url=server.url)

        async def leave_one() -> asyncio.Task[Any]:
            left = asyncio.ensure_future(provider.make_request("eth_call", ["hang"]))  # type: ignore[arg-type]
            await calls(provider)
            while len(server.seen) < 5:
                await asyncio.sleep(0.001)
            return left

        asyncio.run(leave_one())
        assert client_sockets(server) == 0


@needs_fds
def test_closing_a_provider_on_another_loop_closes_the_connections_of_all() -> None:
    with FaultServer(echo) as server:
        provider = AsyncKeyrailProvider(url=server.url)
        closed, idle = asyncio.new_event_loop(), asyncio.new_event_loop()
        closed.run_until_complete(calls(provider))
        closed.close()
        idle.run_until_complete(calls(provider))
        asyncio.run(provider.close())

        async def until_none_is_open() -> None:
            while client_sockets(server):
                await asyncio.sleep(0.001)

        idle.run_until_complete(asyncio.wait_for(until_none_is_open(), 30))
        # The provider still works.
        idle.run_until_complete(calls(provider))
        idle.run_until_complete(provider.close())
        assert client_sockets(server) == 0
        idle.close()


@needs_fds
def test_one_provider_serves_several_threads_with_a_loop_each() -> None:
    with FaultServer(echo) as server:
        provider = AsyncKeyrailProvider(url=server.url)
        failed: list[BaseException] = []

        def thread() -> None:
            try:
                for _ in range(15):
                    asyncio.run(calls(provider))
            except BaseException as error:
                failed.append(error)

        async def long() -> None:
            threads = [threading.Thread(target=thread) for _ in range(3)]
            for one in threads:
                one.start()
            while any(one.is_alive() for one in threads):
                await calls(provider)
            for one in threads:
                one.join()

        asyncio.run(long())
        assert failed == []
        assert client_sockets(server) == 0


@needs_fds
@pytest.mark.parametrize("by_hand", [False, True])
def test_tls_connections_are_closed_with_their_loop(by_hand: bool, tmp_path: Path, monkeypatch: Any) -> None:
    certificate, private = tmp_path / "c.pem", tmp_path / "k.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run([*made, "-keyout", private, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    trusting = ssl.create_default_context(cafile=str(certificate))
    # aiohttp keeps the certificates that were known when it was imported.
    monkeypatch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", trusting)
    with FaultServer(echo, tls=context) as server:
        provider = AsyncKeyrailProvider(url=server.url.replace("http://127.0.0.1", "https://localhost"))
        for _ in range(3):
            if by_hand:
                loop = asyncio.new_event_loop()
                loop.run_until_complete(calls(provider))
                loop.close()
            else:
                asyncio.run(calls(provider))
        assert client_sockets(server) <= (4 if by_hand else 0)
        del provider
        gc.collect()
        assert client_sockets(server) == 0


# With every warning shown, and a look at what was never closed at the end.
QUIET = """
import asyncio, gc, threading
from fault_server import FaultServer
from keyrail import AsyncKeyrailProvider
from test_event_loops import calls, echo

# Only what the runs leave behind has to be collected, not the modules.
gc.freeze()

def by_hand(run):
    loop = asyncio.new_event_loop()
    loop.run_until_complete(run)
    loop.close()

async def with_its_own(url):
    await calls(AsyncKeyrailProvider(url=url))

async def collected(url, rounds):
    provider = AsyncKeyrailProvider(url=url)
    await calls(provider)
    del provider
    gc.collect()
    for _ in range(rounds):
        await asyncio.sleep(0)

with FaultServer(echo) as server:
    shared = AsyncKeyrailProvider(url=server.url)
    for run in (asyncio.run, by_hand):
        for _ in range(2):
            run(calls(shared))
            for rounds in range(7):
                run(collected(server.url, rounds))
            run(with_its_own(server.url))
            gc.collect()
    thread = threading.Thread(target=lambda: asyncio.run(calls(shared)))
    thread.start()
    thread.join()
    left_open = AsyncKeyrailProvider(url=server.url)
    by_hand(calls(left_open))
gc.collect()
print("end")
"""


def test_nothing_is_said_about_loops_and_connections_that_nobody_closed() -> None:
    warnings = ["-W", "always", "-W", "ignore:websockets:DeprecationWarning"]
    done = subprocess.run(
        [sys.executable, *warnings, "-c", QUIET], cwd=TESTS, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout == "end\n"
