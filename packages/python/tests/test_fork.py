"""Parent and children share no connections, locks or ids after a fork."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import itertools
import multiprocessing
import os
import pickle
import random
import select
import signal
import socket
import ssl
import subprocess
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chain_server import ChainServer
from fault_server import Connection, FaultServer, ReceivedRequest
from web3 import AsyncWeb3, Web3

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider, logs

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork"),
    # Python 3.12 and newer warn about a fork while threads run. The tests do so on purpose.
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]
BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
_MAX_S = 60


def echo(request: ReceivedRequest, connection: Connection) -> None:
    """Respond to each call with its own marker, after a short random delay."""
    time.sleep(random.random() * 0.003)
    entries = [{"jsonrpc": "2.0", "id": call["id"], "result": call["params"][0]} for call in request.calls]
    connection.respond(200, entries if isinstance(request.json, list) else entries[0])


class Child:
    """A forked process that runs a function and sends back its result."""

    def __init__(self, run: Callable[[], Any], fork: Callable[[], int] = os.fork) -> None:
        self._reads, writes = os.pipe()
        self._process = fork()
        if self._process:
            os.close(writes)
            return
        # The child must not run any code of pytest. SIGALRM ends it if it hangs.
        signal.setitimer(signal.ITIMER_REAL, _MAX_S)
        try:
            try:
                outcome: tuple[bool, Any] = True, run()
            except BaseException:
                outcome = False, traceback.format_exc()
            with os.fdopen(writes, "wb") as pipe:
                pipe.write(pickle.dumps(outcome))
        finally:
            os._exit(0)

    def result(self) -> Any:
        with os.fdopen(self._reads, "rb") as pipe:
            written = pipe.read()
        _, status = os.waitpid(self._process, 0)
        assert status == 0, f"the child ended with {status}"
        ok, value = pickle.loads(written)
        assert ok, value
        return value


def in_child(run: Callable[[], Any]) -> Any:
    return Child(run).result()


def find_wrong_responses(provider: KeyrailProvider, count: int) -> list[tuple[str, Any]]:
    """Make calls, every third of them a batch, and return those whose response does not have their own marker."""
    wrong: list[tuple[str, Any]] = []
    for at in range(count):
        marker = f"{os.getpid()} {threading.get_ident()} {at}"
        if at % 3 == 0:
            markers = [f"{marker} {part}" for part in range(3)]
            settled = provider.batch_settled([("eth_call", [one]) for one in markers])
            wrong += [
                (own, one.error or one.value) for own, one in zip(markers, settled, strict=True) if one.value != own
            ]
        else:
            value = provider.make_request("eth_call", [marker])["result"]  # type: ignore[arg-type]
            wrong += [] if value == marker else [(marker, value)]
    return wrong


async def find_wrong_async_responses(provider: AsyncKeyrailProvider, count: int) -> list[tuple[str, Any]]:
    async def one(at: int) -> list[tuple[str, Any]]:
        marker = f"{os.getpid()} {threading.get_ident()} {at}"
        value = (await provider.make_request("eth_call", [marker]))["result"]  # type: ignore[arg-type]
        return [] if value == marker else [(marker, value)]

    wrong: list[tuple[str, Any]] = []
    for at in range(0, count, 4):
        for found in await asyncio.gather(*(one(at + part) for part in range(4))):
            wrong += found
    return wrong


@contextmanager
def busy_threads(run: Callable[[], list[Any]], count: int = 4) -> Iterator[list[Any]]:
    """Call a function repeatedly in threads of this process, and collect the results."""
    stop = threading.Event()
    found: list[Any] = []

    def loop() -> None:
        while not stop.is_set():
            try:
                found.extend(run())
            except Exception as error:
                found.append(error)

    threads = [threading.Thread(target=loop) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def get_processes_by_connection(server: FaultServer) -> dict[int, set[str]]:
    """Return, for each connection, the processes whose calls used it."""
    found: dict[int, set[str]] = {}
    for request in server.requests:
        found.setdefault(request.connection, set()).update(call["params"][0].split()[0] for call in request.calls)
    return found


def count_connections(port: int) -> int:
    """Count the file descriptors of this process that are connected to a port."""
    count = 0
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(int(name))) as sock:
            count += sock.family == socket.AF_INET and sock.getpeername()[1] == port
    return count


def get_port(server: FaultServer) -> int:
    return int(server.url.rpartition(":")[2])


def test_children_get_their_own_responses_while_threads_of_the_parent_make_calls() -> None:
    with FaultServer(echo) as server, KeyrailProvider(url=server.url) as provider:
        assert find_wrong_responses(provider, 3) == []
        with busy_threads(lambda: find_wrong_responses(provider, 3)) as wrong_in_parent:
            children = [Child(lambda: find_wrong_responses(provider, 12)) for _ in range(8)]
            wrong = [child.result() for child in children]
        assert wrong == [[]] * 8
        assert wrong_in_parent == []
        assert all(len(processes) == 1 for processes in get_processes_by_connection(server).values())


def find_wrong_responses_of_raw_forks(url: str, kind: str) -> list[tuple[str, Any]]:
    """Use a provider in this process and in children whose fork Python did not see, and return the wrong responses of all."""

    def fork(run: Callable[[], Any]) -> list[Child]:
        return [Child(run, ctypes.PyDLL(None).fork) for _ in range(4)]

    if kind == "sync":
        with KeyrailProvider(url=url) as provider:
            wrong = find_wrong_responses(provider, 3)
            children = fork(lambda: find_wrong_responses(provider, 30))
            wrong += find_wrong_responses(provider, 30)
            return wrong + [one for child in children for one in child.result()] + find_wrong_responses(provider, 3)

    shared = AsyncKeyrailProvider(url=url)

    async def close_and_use() -> list[Any]:
        await shared.close()
        return await find_wrong_async_responses(shared, 12)

    with asyncio.Runner() as runner:
        wrong = runner.run(find_wrong_async_responses(shared, 8))
        children = fork(lambda: asyncio.run(close_and_use()))
        wrong += runner.run(find_wrong_async_responses(shared, 12))
        wrong += [one for child in children for one in child.result()]
        wrong += runner.run(find_wrong_async_responses(shared, 12))
        runner.run(shared.close())
    return wrong


@pytest.mark.slow
@BOTH
def test_children_that_were_forked_without_python_get_their_own_responses(kind: str) -> None:
    """As with uWSGI, which forks in C: the functions of os.register_at_fork are not called."""
    # In a process without other threads, because such a child waits forever for a lock that another thread had.
    context = multiprocessing.get_context("spawn")
    with FaultServer(echo) as server, ProcessPoolExecutor(1, mp_context=context) as executor:
        assert executor.submit(find_wrong_responses_of_raw_forks, server.url, kind).result() == []
        processes = get_processes_by_connection(server)
        assert all(len(one) == 1 for one in processes.values())
        assert len(set().union(*processes.values())) == 5


def test_request_ids_of_parent_and_children_differ() -> None:
    with FaultServer(echo) as server, KeyrailProvider(url=server.url) as provider:
        find_wrong_responses(provider, 9)
        for child in [Child(lambda: find_wrong_responses(provider, 9)) for _ in range(4)]:
            child.result()
        find_wrong_responses(provider, 9)
        ids: dict[str, set[int]] = {}
        for request in server.requests:
            for call in request.calls:
                ids.setdefault(call["params"][0].split()[0], set()).add(call["id"])
        assert len(ids) == 5
        assert all(first.isdisjoint(second) for first, second in itertools.combinations(ids.values(), 2))
        assert max(max(one) for one in ids.values()) < 2**53


# A global, because a pool of processes finds functions by name.
preloaded: KeyrailProvider


def call_preloaded(count: int) -> list[tuple[str, Any]]:
    return find_wrong_responses(preloaded, count)


@pytest.mark.parametrize("pool", ["multiprocessing.Pool", "ProcessPoolExecutor"])
def test_processes_of_a_pool_get_their_own_responses(pool: str) -> None:
    global preloaded
    context = multiprocessing.get_context("fork")
    with FaultServer(echo) as server, KeyrailProvider(url=server.url) as preloaded:
        assert find_wrong_responses(preloaded, 3) == []
        with busy_threads(lambda: find_wrong_responses(preloaded, 3)) as wrong_in_parent:
            if pool == "ProcessPoolExecutor":
                with ProcessPoolExecutor(4, mp_context=context) as executor:
                    wrong = list(executor.map(call_preloaded, [6] * 8))
            else:
                with context.Pool(4) as workers:
                    wrong = workers.map(call_preloaded, [6] * 8)
        assert wrong == [[]] * 8
        assert wrong_in_parent == []


def test_preloaded_workers_use_web3_concurrently() -> None:
    """As gunicorn with --preload: the app makes calls while it is loaded, and then each worker has threads."""

    def worker(w3: Web3) -> list[Any]:
        with busy_threads(lambda: find_wrong_responses(w3.provider, 3), 3) as wrong:  # type: ignore[arg-type]
            time.sleep(0.1)
        return wrong

    with FaultServer(echo) as server:
        provider = KeyrailProvider(url=server.url)
        w3 = Web3(provider)
        assert find_wrong_responses(provider, 1) == []
        children = [Child(lambda: worker(w3)) for _ in range(4)]
        assert [child.result() for child in children] == [[]] * 4
        provider.close()


def test_a_child_has_free_connections_while_the_parent_uses_all() -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        if request.json["params"] == ["slow"]:
            received.set()
            go_on.wait(_MAX_S)
        connection.respond(200, {"jsonrpc": "2.0", "id": request.json["id"], "result": request.json["params"][0]})

    received, go_on = threading.Event(), threading.Event()
    with FaultServer(script) as server, KeyrailProvider(url=server.url, max_in_flight=1) as provider:

        def call(marker: str) -> Any:
            return provider.make_request("eth_call", [marker])["result"]  # type: ignore[arg-type]

        # One thread of the parent uses the only connection, and another one waits for it.
        threads = [threading.Thread(target=call, args=("slow",)) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            assert received.wait(_MAX_S)
            assert in_child(lambda: call("own")) == "own"
        finally:
            go_on.set()
            for thread in threads:
                thread.join()


@pytest.mark.slow
def test_a_child_does_not_wait_for_a_lock_of_the_parent() -> None:
    with FaultServer(echo) as server, KeyrailProvider(url=server.url) as provider:

        def churn() -> list[Any]:
            with contextlib.suppress(KeyrailError):
                provider.make_request("eth_call", ["again"])  # type: ignore[arg-type]
            provider.close()
            return []

        with busy_threads(churn, 6):
            for _ in range(25):
                assert in_child(lambda: find_wrong_responses(provider, 2)) == []


@contextmanager
def certified(tmp_path: Path) -> Generator[tuple[Path, ssl.SSLContext]]:
    certificate, private = tmp_path / "c.pem", tmp_path / "k.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run([*command, "-keyout", private, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    yield certificate, context


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_closing_the_provider_in_a_child_does_not_close_the_parent_s_connection(
    tls: bool, tmp_path: Path, monkeypatch: Any
) -> None:
    with certified(tmp_path) as (certificate, context):
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with FaultServer(echo, tls=context if tls else None) as server:
            url = server.url.replace("http://127.0.0.1", "https://localhost") if tls else server.url
            with KeyrailProvider(url=url) as provider:

                def use_and_close() -> list[Any]:
                    wrong = find_wrong_responses(provider, 2)
                    provider.close()
                    return wrong

                assert find_wrong_responses(provider, 1) == []
                assert in_child(provider.close) is None
                assert in_child(use_and_close) == []
                assert find_wrong_responses(provider, 2) == []
            own = {
                request.connection for request in server.requests if str(os.getpid()) in request.calls[0]["params"][0]
            }
            assert len(own) == 1


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="file descriptors cannot be listed")
@BOTH
def test_a_child_has_no_copy_of_the_parent_s_connections(kind: str) -> None:
    with FaultServer(echo) as server:
        if kind == "sync":
            with KeyrailProvider(url=server.url) as provider:
                assert find_wrong_responses(provider, 2) == []
                assert count_connections(get_port(server)) == 1
                assert in_child(lambda: count_connections(get_port(server))) == 0
                assert count_connections(get_port(server)) == 1
            return

        async def run() -> None:
            async with AsyncKeyrailProvider(url=server.url) as provider:
                assert await find_wrong_async_responses(provider, 4) == []
                assert count_connections(get_port(server)) == 4
                assert in_child(lambda: count_connections(get_port(server))) == 0
                assert count_connections(get_port(server)) == 4
                assert await find_wrong_async_responses(provider, 8) == []

        asyncio.run(run())
        assert len({request.connection for request in server.requests}) == 4


@pytest.mark.parametrize("loop_of_child", ["its own", "the parent's"])
def test_asynchronous_calls_of_a_child_get_their_own_responses(loop_of_child: str) -> None:
    with FaultServer(echo) as server:
        provider = AsyncKeyrailProvider(url=server.url)
        loop = asyncio.new_event_loop()

        def child() -> list[Any]:
            if loop_of_child == "its own":
                return asyncio.run(find_wrong_async_responses(provider, 12))
            return loop.run_until_complete(find_wrong_async_responses(provider, 12))

        assert loop.run_until_complete(find_wrong_async_responses(provider, 8)) == []
        if loop_of_child == "its own":
            children = [Child(child) for _ in range(4)]
            assert loop.run_until_complete(find_wrong_async_responses(provider, 12)) == []
            assert [one.result() for one in children] == [[]] * 4
        else:
            # asyncio allows only one process at a time to run the loop, because they share its selector.
            assert in_child(child) == []
        assert loop.run_until_complete(find_wrong_async_responses(provider, 12)) == []
        loop.run_until_complete(provider.close())
        loop.close()
        assert all(len(processes) == 1 for processes in get_processes_by_connection(server).values())


def test_a_child_forked_in_a_running_loop_gets_its_own_responses() -> None:
    with FaultServer(echo) as server:

        async def run() -> None:
            async with AsyncKeyrailProvider(url=server.url) as provider:
                calls = asyncio.ensure_future(find_wrong_async_responses(provider, 40))
                await asyncio.sleep(0)
                children = []
                for _ in range(4):
                    # Calls are in flight at this time.
                    children.append(Child(lambda: asyncio.run(find_wrong_async_responses(provider, 8))))
                    await asyncio.sleep(0.005)
                assert await calls == []
                assert [child.result() for child in children] == [[]] * 4
                assert await find_wrong_async_responses(provider, 8) == []

        asyncio.run(run())
        assert all(len(processes) == 1 for processes in get_processes_by_connection(server).values())


def test_tls_connections_of_an_asynchronous_parent_survive_its_children(tmp_path: Path) -> None:
    with certified(tmp_path) as (certificate, context), FaultServer(echo, tls=context) as server:
        trusting = ssl.create_default_context(cafile=str(certificate))
        url = server.url.replace("http://127.0.0.1", "https://localhost")

        async def run() -> None:
            async with AsyncKeyrailProvider(url=url, ssl_context=trusting) as provider:

                async def use_and_close() -> list[Any]:
                    wrong = await find_wrong_async_responses(provider, 4)
                    await provider.close()
                    return wrong

                assert await find_wrong_async_responses(provider, 4) == []
                assert in_child(lambda: asyncio.run(provider.close())) is None
                assert in_child(lambda: asyncio.run(use_and_close())) == []
                assert await find_wrong_async_responses(provider, 8) == []

        asyncio.run(run())
        own = {request.connection for request in server.requests if str(os.getpid()) in request.calls[0]["params"][0]}
        assert len(own) == 4


def test_a_child_does_not_wake_up_the_loop_of_its_parent() -> None:
    with FaultServer(echo) as server:
        provider = AsyncKeyrailProvider(url=server.url)
        loop = asyncio.new_event_loop()
        assert loop.run_until_complete(find_wrong_async_responses(provider, 4)) == []
        wake_up: socket.socket = loop._ssock  # type: ignore[attr-defined]
        in_child(lambda: asyncio.run(find_wrong_async_responses(provider, 4)))
        readable, _, _ = select.select([wake_up], [], [], 0)
        assert readable == []
        loop.run_until_complete(provider.close())
        loop.close()


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_child_continues_an_iteration_over_logs_from_its_cursor(concurrency: int) -> None:
    with ChainServer(60) as server, KeyrailProvider(url=server.url) as provider:
        w3 = Web3(provider)

        def numbers(found: Any) -> list[int]:
            return [log["blockNumber"] for log in found]

        def child() -> list[int]:
            with pytest.raises(KeyrailError, match="pass the cursor of this iteration as cursor=") as caught:
                next(found)
            assert caught.value.kind == "invalidRequest"
            return numbers(logs(w3, from_block=0, max_blocks=5, concurrency=concurrency, cursor=found.cursor))

        whole = numbers(logs(w3, from_block=0))
        found = logs(w3, from_block=0, max_blocks=5, concurrency=concurrency)
        first = [next(found)["blockNumber"] for _ in range(7)]
        rest = in_child(child)
        assert first + numbers(found) == whole
        assert rest
        assert whole[-len(rest) :] == rest


def test_parent_and_child_share_an_async_web3() -> None:
    with FaultServer(
        lambda request, connection: connection.respond(
            200, {"jsonrpc": "2.0", "id": request.json["id"], "result": "0x5"}
        )
    ) as server:
        w3 = AsyncWeb3(AsyncKeyrailProvider(url=server.url))

        async def number() -> int:
            return await w3.eth.block_number

        assert asyncio.run(number()) == 5
        assert in_child(lambda: asyncio.run(number())) == 5
        assert asyncio.run(number()) == 5
