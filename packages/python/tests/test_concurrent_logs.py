"""Logs in concurrent windows, while the chain changes."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from chain_server import ChainServer, NodeError, Place, count_blocks
from leak_walk import find_leaks
from web3 import AsyncWeb3, Web3

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider, LogCursor, LogsProgress, async_logs, logs

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])


class Iteration:
    """An iteration by either provider, one log at a time, as places."""

    def __init__(self, iterator: Any, call: Callable[[Callable[[], Any]], Any]) -> None:
        self._iterator = iterator
        self._call = call

    @property
    def cursor(self) -> LogCursor | None:
        cursor: LogCursor | None = self._iterator.cursor
        # Users store it as JSON.
        stored: LogCursor | None = json.loads(json.dumps(cursor))
        assert stored == cursor
        return stored

    async def take(self) -> Place | None:
        log = await self._call(lambda: _next(self._iterator))
        return None if log is None else (log["blockNumber"], log["logIndex"], log["blockHash"].to_0x_hex())

    async def rest(self, into: list[Place] | None = None) -> list[Place]:
        taken: list[Place] = [] if into is None else into
        while (place := await self.take()) is not None:
            taken.append(place)
        return taken

    async def close(self) -> None:
        await self._call(self._iterator.aclose if hasattr(self._iterator, "aclose") else self._iterator.close)


def _next(iterator: Any) -> Any:
    return anext(iterator, None) if hasattr(iterator, "__anext__") else next(iterator, None)


Open = Callable[..., Iteration]


@asynccontextmanager
async def open_logs(kind: str, server: ChainServer, **options: Any) -> AsyncIterator[Open]:
    """Yield a function that starts iterations over one provider."""
    options = {"url": server.url, "retry": False, **options}
    if kind == "sync":

        async def called(call: Callable[[], Any]) -> Any:
            return call()

        with KeyrailProvider(**options) as provider:
            w3 = Web3(provider)
            yield lambda **options: Iteration(logs(w3, **options), called)
    else:

        async def awaited(call: Callable[[], Awaitable[Any]]) -> Any:
            return await call()

        async with AsyncKeyrailProvider(**options) as async_provider:
            async_w3 = AsyncWeb3(async_provider)
            yield lambda **options: Iteration(async_logs(async_w3, **options), awaited)


def read_all(kind: str, server: ChainServer, **options: Any) -> list[Place]:
    async def run() -> list[Place]:
        async with open_logs(kind, server) as start:
            return await start(**options).rest()

    return asyncio.run(run())


def read_until_failure(
    kind: str, server: ChainServer, **options: Any
) -> tuple[KeyrailError, list[Place], LogCursor | None]:
    """Return the failure, the logs before it, and the cursor."""
    taken: list[Place] = []

    async def run() -> tuple[KeyrailError, LogCursor | None]:
        async with open_logs(kind, server) as start:
            iteration = start(**options)
            with pytest.raises(KeyrailError) as caught:
                await iteration.rest(taken)
            assert await iteration.take() is None
            return caught.value, iteration.cursor

    failure, cursor = asyncio.run(run())
    return failure, taken, cursor


def reject_above(server: ChainServer, most: int) -> list[int]:
    rejected: list[int] = []

    def before(method: str, params: Any) -> None:
        if method == "eth_getLogs" and count_blocks(params) > most:
            rejected.append(count_blocks(params))
            raise NodeError(-32005, "block range is too wide")

    server.before = before
    return rejected


class InFlight:
    """Counts the calls to eth_getLogs in flight, and delays each of them."""

    def __init__(self, server: ChainServer, delay: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self.now = 0
        self.max = 0

        def before(method: str, _: Any) -> None:
            if method != "eth_getLogs":
                return
            with self._lock:
                self.now += 1
                self.max = max(self.max, self.now)
            delay()
            with self._lock:
                self.now -= 1

        server.before = before


@pytest.fixture
def idle() -> Callable[[ChainServer, int], Awaitable[int]]:
    """Return a function that waits for a number of calls to eth_getLogs and until no more arrive, and counts them."""

    async def wait(server: ChainServer, expected: int) -> int:
        give_up_at = time.monotonic() + 30
        count = -1
        while count != len(server.requests) or (len(server.spans) < expected and time.monotonic() < give_up_at):
            count = len(server.requests)
            await asyncio.sleep(0.1)
        return len(server.spans)

    return wait


@BOTH
@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_concurrency_limits_the_windows_in_flight(kind: str, concurrency: int) -> None:
    all_in_flight = threading.Event()

    def delay() -> None:
        if in_flight.now == concurrency:
            all_in_flight.set()
        # The first window is read alone, because the limit of the node is not known yet.
        if len(server.spans) > 1:
            all_in_flight.wait(30)

    with ChainServer(300) as server:
        in_flight = InFlight(server, delay)
        assert read_all(kind, server, from_block=0, max_blocks=10, concurrency=concurrency) == server.places()
        assert in_flight.max == concurrency
        assert len(server.spans) == 31


@BOTH
def test_logs_are_in_chain_order_for_responses_in_any_order(kind: str) -> None:
    with ChainServer(400) as server:
        InFlight(server, lambda: time.sleep(random.random() / 50))
        assert read_all(kind, server, from_block=0, max_blocks=9, concurrency=8) == server.places()


@BOTH
def test_a_slow_consumer_limits_the_windows_read_ahead(
    kind: str, idle: Callable[[ChainServer, int], Awaitable[int]]
) -> None:
    async def run() -> None:
        with ChainServer([1] * 400) as server:
            async with open_logs(kind, server) as start:
                iteration = start(from_block=1, max_blocks=10, concurrency=3)
                for taken in range(1, 42):
                    await iteration.take()
                    if taken in (1, 10, 11, 41):
                        # The current window and six more.
                        expected = (taken - 1) // 10 + 7
                        assert await idle(server, expected) == expected
                await iteration.close()
                expected = 4 + 7
                assert await idle(server, expected) == expected

    asyncio.run(run())


@BOTH
def test_with_concurrency_1_the_synchronous_iterator_reads_nothing_ahead(
    kind: str, idle: Callable[[ChainServer, int], Awaitable[int]]
) -> None:
    async def run() -> None:
        threads = {thread.name for thread in threading.enumerate()}
        with ChainServer([1] * 400) as server:
            async with open_logs(kind, server) as start:
                iteration = start(from_block=1, max_blocks=10, concurrency=1)
                for _ in range(10):
                    await iteration.take()
                expected = {"sync": 1, "async": 3}[kind]
                assert await idle(server, expected) == expected
                assert "keyrail-logs" not in {thread.name for thread in threading.enumerate()} - threads
                assert len(await iteration.rest()) == 390

    asyncio.run(run())


@BOTH
def test_closing_an_iteration_does_not_wait_for_requests_in_flight(
    kind: str, idle: Callable[[ChainServer, int], Awaitable[int]]
) -> None:
    async def run() -> None:
        hanging = threading.Event()

        def delay() -> None:
            if len(server.spans) > 1:
                hanging.wait(60)

        with ChainServer([1] * 400) as server:
            in_flight = InFlight(server, delay)
            async with open_logs(kind, server) as start:
                iteration = start(from_block=1, max_blocks=10)
                await iteration.take()
                expected = 5
                assert await idle(server, expected) == expected
                await iteration.close()
                assert in_flight.now == 4
                assert await iteration.take() is None
                assert iteration.cursor == {"next_block": 1, "next_log_index": 1}
                hanging.set()
                expected = 5
                assert await idle(server, expected) == expected
                assert in_flight.max == 4

    asyncio.run(run())


@BOTH
def test_the_logs_before_a_failure_are_returned(kind: str) -> None:
    with ChainServer(300) as server:

        def before(method: str, params: Any) -> None:
            if method == "eth_getLogs" and int(params[0]["fromBlock"], 16) <= 123 <= int(params[0]["toBlock"], 16):
                raise NodeError(-32005, "query returned more than 10000 results")

        server.before = before
        failure, taken, cursor = read_until_failure(kind, server, from_block=0, max_blocks=20)
        assert failure.kind == "range"
        assert "Block 123 alone" in str(failure)
        assert taken == server.places(0, 122)
        assert cursor == {"next_block": 123, "next_log_index": 0}


@BOTH
def test_no_window_is_started_after_a_failure(kind: str, idle: Callable[[ChainServer, int], Awaitable[int]]) -> None:
    async def run() -> None:
        with ChainServer([1] * 400) as server:

            def before(method: str, _: Any) -> None:
                if method == "eth_getLogs" and len(server.spans) > 1:
                    raise NodeError(-32001, "no such key", 401)

            server.before = before
            async with open_logs(kind, server) as start:
                iteration = start(from_block=1, max_blocks=10)
                await iteration.take()
                expected = 5
                assert await idle(server, expected) == expected
                taken: list[Place] = []
                with pytest.raises(KeyrailError) as caught:
                    await iteration.rest(taken)
                assert caught.value.kind == "auth"
                assert len(taken) == 9
                assert len(server.spans) == 5

    asyncio.run(run())


@BOTH
def test_an_iteration_and_its_failure_do_not_show_the_key(kind: str) -> None:
    key = "kr_a" + secrets.token_hex(20)

    async def run() -> None:
        with ChainServer([1] * 400) as server:

            def before(method: str, _: Any) -> None:
                if method == "eth_getLogs" and len(server.spans) > 1:
                    raise NodeError(-32001, f"no such key: {key}", 401)

            server.before = before
            async with open_logs(kind, server, url=None, base_url=server.url, api_key=key) as start:
                iteration = start(from_block=1, max_blocks=10)
                with pytest.raises(KeyrailError, match="no such key: …") as caught:
                    await iteration.rest()
                assert find_leaks([caught.value, iteration], key) == []

    asyncio.run(run())


@BOTH
@pytest.mark.parametrize(
    ("failure_kind", "error"),
    [
        ("auth", NodeError(-32001, "no such key", 401)),
        ("throttled", NodeError(-32005, "rate limited", 429)),
        ("unavailable", NodeError(-32000, "down", 503)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_failures_do_not_split_a_window(kind: str, failure_kind: str, error: NodeError) -> None:
    with ChainServer(100) as server:

        def before(method: str, _: Any) -> None:
            if method == "eth_getLogs":
                raise error

        server.before = before
        failure, taken, cursor = read_until_failure(kind, server, from_block=7)
        assert (failure.kind, taken) == (failure_kind, [])
        assert server.spans == [94]
        assert cursor == {"next_block": 7, "next_log_index": 0}


@BOTH
def test_a_timeout_cuts_a_window_to_a_quarter_up_to_three_times(kind: str) -> None:
    def slow_above(most: int) -> Callable[[str, Any], None]:
        def before(method: str, params: Any) -> None:
            if method == "eth_getLogs" and count_blocks(params) > most:
                raise NodeError(-32603, "no response in time", 504, "upstream_timeout")

        return before

    with ChainServer(900) as server:
        server.before = slow_above(100)
        assert read_all(kind, server, from_block=0, concurrency=1) == server.places()
        assert server.spans[:3] == [901, 225, 56]
    with ChainServer(900) as server:
        server.before = slow_above(0)
        failure, _, _ = read_until_failure(kind, server, from_block=0)
        assert failure.kind == "timeout"
        assert server.spans == [901, 225, 56, 14]


@BOTH
def test_the_next_iteration_starts_with_the_learned_limit(kind: str) -> None:
    async def run() -> None:
        with ChainServer(3_000) as server:
            rejected = reject_above(server, 120)
            async with open_logs(kind, server) as start:
                assert await start(from_block=0).rest() == server.places()
                assert rejected[:4] == [1_000, 500, 250, 125]
                assert len(rejected) <= 16
                rejected.clear()
                assert await start(from_block=0, to_block=500).rest() == server.places(0, 500)
                assert 1_000 not in rejected
                assert len(rejected) <= 4

    asyncio.run(run())


@BOTH
def test_an_exception_in_on_progress_ends_the_iteration(kind: str) -> None:
    async def run() -> None:
        with ChainServer(95) as server:
            steps: list[LogsProgress] = []

            def full(step: LogsProgress) -> None:
                steps.append(step)
                if len(steps) == 2:
                    raise OSError("the disk is full")

            async with open_logs(kind, server) as start:
                iteration = start(from_block=0, max_blocks=10, on_progress=full)
                with pytest.raises(OSError, match="the disk is full"):
                    await iteration.rest()
                assert iteration.cursor == steps[-1].cursor == {"next_block": 20, "next_log_index": 0}
                assert [step.blocks for step in steps] == [10, 10]

    asyncio.run(run())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_interrupted_thread_is_a_failure() -> None:
    with ChainServer([1] * 100) as server, KeyrailProvider(url=server.url) as provider:
        w3 = Web3(provider)
        make_request = provider.make_request

        def interrupt(method: Any, params: Any) -> Any:
            if method == "eth_getLogs" and params[0]["fromBlock"] == hex(11):
                raise SystemExit
            return make_request(method, params)

        provider.make_request = interrupt  # type: ignore[method-assign]
        found = logs(w3, from_block=1, max_blocks=10)
        assert [next(found)["blockNumber"] for _ in range(10)] == list(range(1, 11))
        with pytest.raises(KeyrailError, match="blocks 11 to 20 was interrupted") as caught:
            next(found)
        assert caught.value.kind == "aborted"
        assert found.cursor == {"next_block": 11, "next_log_index": 0}


@BOTH
def test_an_unknown_tag_is_a_retryable_failure(kind: str) -> None:
    with ChainServer(10) as server:
        call = server.call
        server.call = lambda method, params: (  # type: ignore[method-assign]
            None if method == "eth_getBlockByNumber" else call(method, params)
        )
        failure, _, _ = read_until_failure(kind, server, from_block=0, to_block="finalized")
        assert (failure.kind, failure.source, failure.retryable) == ("lagging", "node", True)


@BOTH
@pytest.mark.parametrize("seed", range(5))
def test_an_iteration_resumed_many_times_returns_every_log_once(kind: str, seed: int) -> None:
    drawn = random.Random(seed)

    async def run() -> None:
        with ChainServer([drawn.randrange(5) for _ in range(drawn.randint(1, 60))]) as server:
            reject_above(server, drawn.randint(1, 40))
            options = {"max_blocks": drawn.randint(1, 40), "check_reorg": drawn.random() < 0.5}
            taken: list[Place] = []
            cursor: LogCursor | None = None
            async with open_logs(kind, server) as start:
                for stop in [*(drawn.randrange(7) for _ in range(drawn.randrange(20))), 10**9]:
                    iteration = start(
                        from_block=0,
                        concurrency=drawn.randint(1, 8),
                        **options,
                        **({"cursor": cursor} if cursor else {}),
                    )
                    while stop > 0 and (place := await iteration.take()) is not None:
                        taken.append(place)
                        stop -= 1
                    cursor = iteration.cursor
                    await iteration.close()
            assert taken == server.places()

    asyncio.run(run())


class TestCheckReorg:
    reorgs = 0

    def resume(self, kind: str, server: ChainServer, taken: list[Place], cursor: LogCursor | None) -> LogCursor | None:
        """Read once from a cursor, and drop the logs that a reorganization removed."""

        async def run() -> tuple[KeyrailError | None, LogCursor | None]:
            async with open_logs(kind, server) as start:
                options: dict[str, Any] = {"cursor": cursor} if cursor else {}
                iteration = start(from_block=0, max_blocks=7, check_reorg=True, **options)
                failure: KeyrailError | None = None
                try:
                    await iteration.rest(taken)
                except KeyrailError as error:
                    failure = error
                return failure, iteration.cursor

        failure, position = asyncio.run(run())
        if failure is not None and failure.reorg is not None:
            first = failure.reorg.from_block
            assert failure.kind == "badResponse"
            assert f"block {first}" in str(failure)
            assert failure.reorg.cursor == position
            while taken and taken[-1][0] >= first:
                taken.pop()
            self.reorgs += 1
        # The node may not have a block any more, or the chain may change during every read.
        assert failure is None or failure.retryable, failure
        return position

    @BOTH
    def test_it_makes_extra_calls_only_near_the_head(self, kind: str) -> None:
        with ChainServer(1_000) as server:
            read_all(kind, server, from_block=0, to_block=936, check_reorg=True)
            assert server.get_calls("eth_getBlockByNumber") == []
            read_all(kind, server, from_block=900, to_block=1_000, check_reorg=True)
            # Three, and one for the block below the first.
            assert len(server.get_calls("eth_getBlockByNumber")) == 4

    @BOTH
    def test_a_window_that_changed_during_a_read_is_read_again(self, kind: str) -> None:
        with ChainServer(20) as server:
            reorgs = iter(range(2))

            def after(method: str, _: Any) -> None:
                if method == "eth_getLogs" and next(reorgs, None) is not None:
                    server.reorg(3)

            server.after = after
            assert read_all(kind, server, from_block=0, check_reorg=True) == server.places()
            assert len(server.spans) == 3

    @BOTH
    def test_a_chain_that_changes_during_every_read_is_a_failure(self, kind: str) -> None:
        with ChainServer(20) as server:
            server.after = lambda method, _: server.reorg(3) if method == "eth_getLogs" else None
            failure, taken, _ = read_until_failure(kind, server, from_block=0, check_reorg=True)
            assert (failure.kind, failure.retryable, taken) == ("unavailable", True, [])
            assert "changed during each of 10 reads" in str(failure)

    @BOTH
    def test_the_failure_has_the_first_block_that_may_have_changed(self, kind: str) -> None:
        with ChainServer(100) as server:
            reorgs = iter(range(1))

            def before(method: str, params: Any) -> None:
                if method == "eth_getLogs" and int(params[0]["toBlock"], 16) >= 90 and next(reorgs, None) is not None:
                    server.reorg(20, 21)

            server.before = before
            failure, taken, cursor = read_until_failure(kind, server, from_block=0, max_blocks=10, check_reorg=True)
            assert failure.reorg is not None
            # Blocks 81 and above were replaced; the windows near the head start at block 37.
            assert failure.reorg.from_block == 77
            assert (failure.kind, failure.retryable, cursor) == ("badResponse", True, failure.reorg.cursor)
            unchanged = [place for place in taken if place[0] < 77]
            assert unchanged != taken
            assert unchanged + read_all(kind, server, from_block=0, check_reorg=True, cursor=cursor) == server.places()

    @BOTH
    @pytest.mark.parametrize("count", [3, 1_000])
    def test_a_reorganization_between_two_runs_is_found(self, kind: str, count: int) -> None:
        async def run() -> LogCursor | None:
            async with open_logs(kind, server) as start:
                iteration = start(from_block=0, check_reorg=True)
                for _ in range(count):
                    await iteration.take()
                await iteration.close()
                return iteration.cursor

        with ChainServer([1] * 10) as server:
            cursor = asyncio.run(run())
            server.reorg(9, 12)
            failure, taken, _ = read_until_failure(kind, server, from_block=0, check_reorg=True, cursor=cursor)
            assert failure.reorg is not None
            assert failure.reorg.from_block <= 2
            assert taken == []

    @pytest.mark.parametrize("kind", ["sync", "async"])
    def test_the_result_is_canonical_after_random_reorganizations(self, kind: str) -> None:
        for seed in range(8):
            drawn = random.Random(seed)
            script = [
                drawn.choice(
                    [(0, 0), (0, 0), (0, 0), (0, drawn.randint(1, 4)), (drawn.randint(1, 12), drawn.randint(0, 14))]
                )
                for _ in range(drawn.randint(10, 60))
            ]
            with ChainServer(drawn.randint(0, 40)) as server:

                def before(_: str, __: Any, server: ChainServer = server, script: Any = script) -> None:
                    if script:
                        depth, blocks = script.pop()
                        server.reorg(depth, blocks) if depth else server.mine(blocks)

                server.before = before
                taken: list[Place] = []
                cursor: LogCursor | None = None
                for _ in range(100):
                    if not script:
                        break
                    cursor = self.resume(kind, server, taken, cursor)
                # The chain may be shorter than what was read. It has to grow before the reorganization can be noticed.
                server.mine(40)
                for _ in range(3):
                    cursor = self.resume(kind, server, taken, cursor)
                assert taken == server.places(), seed
        assert self.reorgs >= 3


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    deadline = time.monotonic() + 30
    while any(thread.name == "keyrail-logs" for thread in threading.enumerate()):
        assert time.monotonic() < deadline, "a thread of an iteration is still running"
        time.sleep(0.01)
