"""An asynchronous provider closes its connections in every event loop."""

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
from fault_server import Connection, FaultServer, ReceivedRequest
from leak_walk import TESTS
from web3 import AsyncWeb3

from keyrail import AsyncKeyrailProvider

LOOPS = 15
needs_fds = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="file descriptors cannot be listed")


def echo(request: ReceivedRequest, connection: Connection) -> None:
    connection.respond(200, {"jsonrpc": "2.0", "id": request.json["id"], "result": request.json["params"][0]})


async def calls(provider: AsyncKeyrailProvider, count: int = 4) -> None:
    responses = await asyncio.gather(*(provider.make_request("eth_call", [at]) for at in range(count)))  # type: ignore[arg-type]
    assert [response["result"] for response in responses] == list(range(count))


def client_sockets(server: FaultServer) -> int:
    """Count the connections of this process to the server, including those that the server has closed."""
    port = int(server.url.rpartition(":")[2])
    own = set()
    for name in os.listdir("/proc/self/fd"):
        # A thread of the server may have closed it in the meantime.
        with suppress(FileNotFoundError):
            own.add(os.readlink(f"/proc/self/fd/{name}"))
    rows = [line.split() for line in Path("/proc/self/net/tcp").read_text("ascii").splitlines()[1:]]
    # The table changes while it is read, and may contain a row twice.
    return len({row[9] for row in rows if row[2].endswith(f":{port:04X}") and f"socket:[{row[9]}]" in own})


@needs_fds
def test_no_connection_is_open_after_each_of_many_runs() -> None:
    with FaultServer(echo) as server:
        provider = AsyncKeyrailProvider(url=server.url)
        for _ in range(LOOPS):
            asyncio.run(calls(provider))
            assert client_sockets(server) == 0


@needs_fds
def test_no_connection_is_open_after_many_runs_with_async_web3() -> None:
    with FaultServer(
        lambda request, connection: echo(ReceivedRequest("", {}, {**request.json, "params": ["0x5"]}, 0), connection)
    ) as server:
        w3 = AsyncWeb3(AsyncKeyrailProvider(url=server.url))

        async def number() -> int:
            return await w3.eth.block_number

        assert [asyncio.run(number()) for _ in range(LOOPS)] == [5] * LOOPS
        assert client_sockets(server) == 0


@needs_fds
def test_manually_closed_loops_leave_at_most_the_connections_of_the_last_loop() -> None:
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
def test_no_connection_is_open_after_a_loop_ends_with_calls_in_flight() -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        if request.json["params"] == ["hang"]:
            connection.hang()
        echo(request, connection)

    with FaultServer(script) as server:
        provider = AsyncKeyrailProvider(url=server.url)

        async def leave_pending() -> asyncio.Task[Any]:
            pending = asyncio.ensure_future(provider.make_request("eth_call", ["hang"]))  # type: ignore[arg-type]
            await calls(provider)
            while len(server.requests) < 5:
                await asyncio.sleep(0.001)
            return pending

        asyncio.run(leave_pending())
        assert client_sockets(server) == 0


@needs_fds
def test_closing_a_provider_closes_the_connections_of_all_loops() -> None:
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
def test_threads_with_their_own_loops_share_a_provider() -> None:
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
@pytest.mark.parametrize("manually", [False, True])
def test_tls_connections_are_closed_with_their_loop(manually: bool, tmp_path: Path) -> None:
    certificate, private = tmp_path / "c.pem", tmp_path / "k.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run([*command, "-keyout", private, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    trusting = ssl.create_default_context(cafile=str(certificate))
    with FaultServer(echo, tls=context) as server:
        provider = AsyncKeyrailProvider(
            url=server.url.replace("http://127.0.0.1", "https://localhost"), ssl_context=trusting
        )
        for _ in range(3):
            if manually:
                loop = asyncio.new_event_loop()
                loop.run_until_complete(calls(provider))
                loop.close()
            else:
                asyncio.run(calls(provider))
        assert client_sockets(server) <= (4 if manually else 0)
        del provider
        gc.collect()
        assert client_sockets(server) == 0


# Runs in a process with all warnings on, and collects garbage at the end to find objects that were not closed.
QUIET = """
import asyncio, gc, threading
from fault_server import FaultServer
from keyrail import AsyncKeyrailProvider
from test_event_loops import calls, echo

# Only objects of the runs have to be collected, not the modules.
gc.freeze()

def manually(run):
    loop = asyncio.new_event_loop()
    loop.run_until_complete(run)
    loop.close()

async def own_provider(url):
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
    for run in (asyncio.run, manually):
        for _ in range(2):
            run(calls(shared))
            for rounds in range(7):
                run(collected(server.url, rounds))
            run(own_provider(server.url))
            gc.collect()
    thread = threading.Thread(target=lambda: asyncio.run(calls(shared)))
    thread.start()
    thread.join()
    unclosed = AsyncKeyrailProvider(url=server.url)
    manually(calls(unclosed))
gc.collect()
print("end")
"""


@pytest.mark.slow
def test_unclosed_loops_and_connections_cause_no_warnings() -> None:
    warnings = ["-W", "always", "-W", "ignore:websockets:DeprecationWarning"]
    done = subprocess.run(
        [sys.executable, *warnings, "-c", QUIET], cwd=TESTS, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout == "end\n"
