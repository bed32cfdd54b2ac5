"""Windows of logs that are read at the same time, and what happens to the chain meanwhile."""

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
from chain_server import ChainServer, NodeError, Place, span_of
from leak_walk import leaks_of
from web3 import AsyncWeb3, Web3

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider, LogCursor, LogsProgress, async_logs, logs

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])


class Iteration:
    """Logs by either way, one at a time, as places."""

    def __init__(self, given: Any, call: Callable[[Callable[[], Any]], Any]) -> None:
        self._given = given
        self._call = call

    @property
    def cursor(self) -> LogCursor | None:
        cursor: LogCursor | None = self._given.cursor
        # Whoever keeps it, keeps it as JSON.
        kept: LogCursor | None = json.loads(json.dumps(cursor))
        assert kept == cursor
        return kept

    async def take(self) -> Place | None:
        log = await self._call(lambda: _next(self._given))
        return None if log is None else (log["blockNumber"], log["logIndex"], log["blockHash"].to_0x_hex())

    async def rest(self, into: list[Place] | None = None) -> list[Place]:
        taken: list[Place] = [] if into is None else into
        while (place := await self.take()) is not None:
            taken.append(place)
        return taken

    async def close(self) -> None:
        await self._call(self._given.aclose if hasattr(self._given, "aclose") else self._given.close)


def _next(given: Any) -> Any:
    return anext(given, None) if hasattr(given, "__anext__") else next(given, None)


Open = Callable[..., Iteration]


@asynccontextmanager
async def opened(kind: str, server: ChainServer, **options: Any) -> AsyncIterator[Open]:
    """Give a function that begins iterations, all over one provider."""
    options = {"url": server.url, "retry": False, **options}
    if kind == "sync":

        async def called(call: Callable[[], Any]) -> Any:
            return call()

        with KeyrailProvider(**options) as provider:
            w3 = Web3(provider)
            yield lambda **asked: Iteration(logs(w3, **asked), called)
    else:

        async def awaited(call: Callable[[], Awaitable[Any]]) -> Any:
            return await call()

        async with AsyncKeyrailProvider(**options) as async_provider:
            async_w3 = AsyncWeb3(async_provider)
            yield lambda **asked: Iteration(async_logs(async_w3, **asked), awaited)


def found(kind: str, server: ChainServer, **asked: Any) -> list[Place]:
    async def run() -> list[Place]:
        async with opened(kind, server) as begin:
            return await begin(**asked).rest()

    return asyncio.run(run())


def failure_of(kind: str, server: ChainServer, **asked: Any) -> tuple[KeyrailError, list[Place], LogCursor | None]:
    """Give the failure, what was given before it, and where the iteration stands."""
    taken: list[Place] = []

    async def run() -> tuple[KeyrailError, LogCursor | None]:
        async with opened(kind, server) as begin:
            iteration = begin(**asked)
            with pytest.raises(KeyrailError) as caught:
                await iteration.rest(taken)
            assert await iteration.take() is None
            return caught.value, iteration.cursor

    failure, cursor = asyncio.run(run())
    return failure, taken, cursor


def refuse_above(server: ChainServer, most: int) -> list[int]:
    refused: list[int] = []

    def before(method: str, params: Any) -> None:
        if method == "eth_getLogs" and span_of(params) > most:
            refused.append(span_of(params))
            raise NodeError(-32005, "block range is too wide")

    server.before = before
    return refused


class UnderWay:
    """Counts the calls to eth_getLogs that are under way, and holds each of them up."""

    def __init__(self, server: ChainServer, hold: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._now = 0
        self.most = 0

        def before(method: str, _: Any) -> None:
            if method != "eth_getLogs":
                return
            with self._lock:
                self._now += 1
                self.most = max(self.most, self._now)
            hold()
            with self._lock:
                self._now -= 1

        server.before = before


@pytest.fixture
def settled() -> Callable[[ChainServer], Awaitable[int]]:
    """Give a function that waits until no more calls come, and counts those to eth_getLogs."""

    async def wait(server: ChainServer) -> int:
        count = -1
        while count != len(server.seen):
            count = len(server.seen)
            await asyncio.sleep(0.1)
        return len(server.spans)

    return wait


@BOTH
@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_as_many_windows_are_under_way_as_allowed_and_no_more(kind: str, concurrency: int) -> None:
    with ChainServer(300) as server:
        under_way = UnderWay(server, lambda: time.sleep(0.02))
        assert found(kind, server, from_block=0, max_blocks=10, concurrency=concurrency) == server.places()
        assert under_way.most == concurrency
        # The first goes alone: nobody knows yet how much the node takes.
        assert len(server.spans) == 31


@BOTH
def test_the_order_is_that_of_the_chain_though_answers_come_in_any(kind: str) -> None:
    with ChainServer(400) as server:
        UnderWay(server, lambda: time.sleep(random.random() / 50))
        assert found(kind, server, from_block=0, max_blocks=9, concurrency=8) == server.places()


@BOTH
def test_who_takes_slowly_holds_the_reading_up(kind: str, settled: Callable[[ChainServer], Awaitable[int]]) -> None:
    async def run() -> None:
        with ChainServer([1] * 400) as server:
            async with opened(kind, server) as begin:
                iteration = begin(from_block=1, max_blocks=10, concurrency=3)
                for taken in range(1, 42):
                    await iteration.take()
                    if taken in (1, 10, 11, 41):
                        # The window that is being taken, and six more.
                        assert await settled(server) == (taken - 1) // 10 + 7
                await iteration.close()
                assert await settled(server) == 4 + 7

    asyncio.run(run())


@BOTH
def test_with_one_window_at_a_time_sync_reads_nothing_ahead(
    kind: str, settled: Callable[[ChainServer], Awaitable[int]]
) -> None:
    async def run() -> None:
        threads = {thread.name for thread in threading.enumerate()}
        with ChainServer([1] * 400) as server:
            async with opened(kind, server) as begin:
                iteration = begin(from_block=1, max_blocks=10, concurrency=1)
                for _ in range(10):
                    await iteration.take()
                assert await settled(server) == {"sync": 1, "async": 3}[kind]
                assert "keyrail-logs" not in {thread.name for thread in threading.enumerate()} - threads
                assert len(await iteration.rest()) == 390

    asyncio.run(run())


@BOTH
def test_who_leaves_is_not_waited_for(kind: str, settled: Callable[[ChainServer], Awaitable[int]]) -> None:
    async def run() -> None:
        hanging = threading.Event()

        def hold() -> None:
            if len(server.spans) > 1:
                hanging.wait(10)

        with ChainServer([1] * 400) as server:
            under_way = UnderWay(server, hold)
            async with opened(kind, server) as begin:
                iteration = begin(from_block=1, max_blocks=10)
                await iteration.take()
                assert await settled(server) == 5
                started = time.monotonic()
                await iteration.close()
                assert time.monotonic() - started < 1
                assert await iteration.take() is None
                assert iteration.cursor == {"next_block": 1, "next_log_index": 1}
                hanging.set()
                assert await settled(server) == 5
                assert under_way.most == 4

    asyncio.run(run())


@BOTH
def test_the_logs_before_a_failure_are_given(kind: str) -> None:
    with ChainServer(300) as server:

        def before(method: str, params: Any) -> None:
            if method == "eth_getLogs" and int(params[0]["fromBlock"], 16) <= 123 <= int(params[0]["toBlock"], 16):
                raise NodeError(-32005, "query returned more than 10000 results")

        server.before = before
        failure, taken, cursor = failure_of(kind, server, from_block=0, max_blocks=20)
        assert failure.kind == "range"
        assert "block 123 alone" in str(failure)
        assert taken == server.places(0, 122)
        assert cursor == {"next_block": 123, "next_log_index": 0}


@BOTH
def test_behind_a_failure_nothing_more_is_begun(kind: str, settled: Callable[[ChainServer], Awaitable[int]]) -> None:
    async def run() -> None:
        with ChainServer([1] * 400) as server:

            def before(method: str, _: Any) -> None:
                if method == "eth_getLogs" and len(server.spans) > 1:
                    raise NodeError(-32001, "no such key", 401)

            server.before = before
            async with opened(kind, server) as begin:
                iteration = begin(from_block=1, max_blocks=10)
                await iteration.take()
                assert await settled(server) == 5
                taken: list[Place] = []
                with pytest.raises(KeyrailError) as caught:
                    await iteration.rest(taken)
                assert caught.value.kind == "auth"
                assert len(taken) == 9
                assert len(server.spans) == 5

    asyncio.run(run())


@BOTH
def test_the_key_shows_neither_in_an_iteration_nor_in_what_ends_it(kind: str) -> None:
    key = "kr_a" + secrets.token_hex(20)

    async def run() -> None:
        with ChainServer([1] * 400) as server:

            def before(method: str, _: Any) -> None:
                if method == "eth_getLogs" and len(server.spans) > 1:
                    raise NodeError(-32001, f"no such key: {key}", 401)

            server.before = before
            async with opened(kind, server, url=None, base_url=server.url, api_key=key) as begin:
                iteration = begin(from_block=1, max_blocks=10)
                with pytest.raises(KeyrailError, match="no such key: …") as caught:
                    await iteration.rest()
                assert leaks_of([caught.value, iteration], key) == []

    asyncio.run(run())


@BOTH
@pytest.mark.parametrize(
    ("kind_of_failure", "refusal"),
    [
        ("auth", NodeError(-32001, "no such key", 401)),
        ("throttled", NodeError(-32005, "rate limited", 429)),
        ("unavailable", NodeError(-32000, "down", 503)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_for_another_reason_nothing_is_split(kind: str, kind_of_failure: str, refusal: NodeError) -> None:
    with ChainServer(100) as server:

        def before(method: str, _: Any) -> None:
            if method == "eth_getLogs":
                raise refusal

        server.before = before
        failure, taken, cursor = failure_of(kind, server, from_block=7)
        assert (failure.kind, taken) == (kind_of_failure, [])
        assert server.spans == [94]
        assert cursor == {"next_block": 7, "next_log_index": 0}


@BOTH
def test_a_timeout_cuts_to_a_quarter_but_not_for_ever(kind: str) -> None:
    def slow_above(most: int) -> Callable[[str, Any], None]:
        def before(method: str, params: Any) -> None:
            if method == "eth_getLogs" and span_of(params) > most:
                raise NodeError(-32603, "no answer in time", 504, "upstream_timeout")

        return before

    with ChainServer(900) as server:
        server.before = slow_above(100)
        assert found(kind, server, from_block=0, concurrency=1) == server.places()
        assert server.spans[:3] == [901, 225, 56]
    with ChainServer(900) as server:
        server.before = slow_above(0)
        failure, _, _ = failure_of(kind, server, from_block=0)
        assert failure.kind == "timeout"
        assert server.spans == [901, 225, 56, 14]


@BOTH
def test_what_was_learned_of_a_node_holds_for_the_next_iteration(kind: str) -> None:
    async def run() -> None:
        with ChainServer(3_000) as server:
            refused = refuse_above(server, 120)
            async with opened(kind, server) as begin:
                assert await begin(from_block=0).rest() == server.places()
                assert refused[:4] == [1_000, 500, 250, 125]
                assert len(refused) <= 16
                refused.clear()
                assert await begin(from_block=0, to_block=500).rest() == server.places(0, 500)
                assert 1_000 not in refused
                assert len(refused) <= 4

    asyncio.run(run())


@BOTH
def test_what_a_listener_raises_ends_it_where_it_stands(kind: str) -> None:
    async def run() -> None:
        with ChainServer(95) as server:
            told: list[LogsProgress] = []

            def full(step: LogsProgress) -> None:
                told.append(step)
                if len(told) == 2:
                    raise OSError("the disk is full")

            async with opened(kind, server) as begin:
                iteration = begin(from_block=0, max_blocks=10, on_progress=full)
                with pytest.raises(OSError, match="the disk is full"):
                    await iteration.rest()
                assert iteration.cursor == told[-1].cursor == {"next_block": 20, "next_log_index": 0}
                assert [step.blocks for step in told] == [10, 10]

    asyncio.run(run())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_window_whose_thread_was_ended_does_not_pass_for_empty() -> None:
    with ChainServer([1] * 100) as server, KeyrailProvider(url=server.url) as provider:
        w3 = Web3(provider)
        make_request = provider.make_request

        def ended(method: Any, params: Any) -> Any:
            if method == "eth_getLogs" and params[0]["fromBlock"] == hex(11):
                raise SystemExit
            return make_request(method, params)

        provider.make_request = ended  # type: ignore[method-assign]
        found = logs(w3, from_block=1, max_blocks=10)
        assert [next(found)["blockNumber"] for _ in range(10)] == list(range(1, 11))
        with pytest.raises(KeyrailError, match="blocks 11 to 20 was ended") as caught:
            next(found)
        assert caught.value.kind == "aborted"
        assert found.cursor == {"next_block": 11, "next_log_index": 0}


@BOTH
def test_a_tag_that_the_node_does_not_know_is_no_end_of_the_world(kind: str) -> None:
    with ChainServer(10) as server:
        answer = server.answer
        server.answer = lambda method, params: (  # type: ignore[method-assign]
            None if method == "eth_getBlockByNumber" else answer(method, params)
        )
        failure, _, _ = failure_of(kind, server, from_block=0, to_block="finalized")
        assert (failure.kind, failure.source, failure.retryable) == ("lagging", "node", True)


@BOTH
@pytest.mark.parametrize("seed", range(5))
def test_it_goes_on_after_any_number_of_stops_whatever_the_windows_and_limits(kind: str, seed: int) -> None:
    drawn = random.Random(seed)

    async def run() -> None:
        with ChainServer([drawn.randrange(5) for _ in range(drawn.randint(1, 60))]) as server:
            refuse_above(server, drawn.randint(1, 40))
            options = {"max_blocks": drawn.randint(1, 40), "check_reorg": drawn.random() < 0.5}
            taken: list[Place] = []
            cursor: LogCursor | None = None
            async with opened(kind, server) as begin:
                for stop in [*(drawn.randrange(7) for _ in range(drawn.randrange(20))), 10**9]:
                    iteration = begin(
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

    def read_on(self, kind: str, server: ChainServer, taken: list[Place], cursor: LogCursor | None) -> LogCursor | None:
        """Read once, on from a cursor; what a reorganization took away is dropped."""

        async def run() -> tuple[KeyrailError | None, LogCursor | None]:
            async with opened(kind, server) as begin:
                options: dict[str, Any] = {"cursor": cursor} if cursor else {}
                iteration = begin(from_block=0, max_blocks=7, check_reorg=True, **options)
                failure: KeyrailError | None = None
                try:
                    await iteration.rest(taken)
                except KeyrailError as error:
                    failure = error
                return failure, iteration.cursor

        failure, stands = asyncio.run(run())
        if failure is not None and failure.reorg is not None:
            first = failure.reorg.from_block
            assert failure.kind == "badResponse"
            assert f"block {first}" in str(failure)
            assert failure.reorg.cursor == stands
            while taken and taken[-1][0] >= first:
                taken.pop()
            self.reorgs += 1
        # The node may not have a block any more, or the chain may not rest.
        assert failure is None or failure.retryable, failure
        return stands

    @BOTH
    def test_it_costs_nothing_far_below_the_head_and_three_small_calls_near_it(self, kind: str) -> None:
        with ChainServer(1_000) as server:
            found(kind, server, from_block=0, to_block=936, check_reorg=True)
            assert server.asked_of("eth_getBlockByNumber") == []
            found(kind, server, from_block=900, to_block=1_000, check_reorg=True)
            # And one for the block below the first.
            assert len(server.asked_of("eth_getBlockByNumber")) == 4

    @BOTH
    def test_a_window_that_changed_while_it_was_read_is_read_again(self, kind: str) -> None:
        with ChainServer(20) as server:
            reorgs = iter(range(2))

            def after(method: str, _: Any) -> None:
                if method == "eth_getLogs" and next(reorgs, None) is not None:
                    server.reorg(3)

            server.after = after
            assert found(kind, server, from_block=0, check_reorg=True) == server.places()
            assert len(server.spans) == 3

    @BOTH
    def test_a_chain_that_never_rests_ends_it(self, kind: str) -> None:
        with ChainServer(20) as server:
            server.after = lambda method, _: server.reorg(3) if method == "eth_getLogs" else None
            failure, taken, _ = failure_of(kind, server, from_block=0, check_reorg=True)
            assert (failure.kind, failure.retryable, taken) == ("unavailable", True, [])
            assert "changes faster" in str(failure)

    @BOTH
    def test_the_first_block_that_may_have_changed_is_named_and_it_goes_on_from_there(self, kind: str) -> None:
        with ChainServer(100) as server:
            reorgs = iter(range(1))

            def before(method: str, params: Any) -> None:
                if method == "eth_getLogs" and int(params[0]["toBlock"], 16) >= 90 and next(reorgs, None) is not None:
                    server.reorg(20, 21)

            server.before = before
            failure, taken, cursor = failure_of(kind, server, from_block=0, max_blocks=10, check_reorg=True)
            assert failure.reorg is not None
            # Blocks 81 and above were replaced; the windows near the head begin at block 37.
            assert failure.reorg.from_block == 77
            assert (failure.kind, failure.retryable, cursor) == ("badResponse", True, failure.reorg.cursor)
            kept = [place for place in taken if place[0] < 77]
            assert kept != taken
            assert kept + found(kind, server, from_block=0, check_reorg=True, cursor=cursor) == server.places()

    @BOTH
    @pytest.mark.parametrize("count", [3, 1_000])
    def test_a_reorganization_between_two_runs_is_found_by_the_cursor(self, kind: str, count: int) -> None:
        async def run() -> LogCursor | None:
            async with opened(kind, server) as begin:
                iteration = begin(from_block=0, check_reorg=True)
                for _ in range(count):
                    await iteration.take()
                await iteration.close()
                return iteration.cursor

        with ChainServer([1] * 10) as server:
            cursor = asyncio.run(run())
            server.reorg(9, 12)
            failure, taken, _ = failure_of(kind, server, from_block=0, check_reorg=True, cursor=cursor)
            assert failure.reorg is not None
            assert failure.reorg.from_block <= 2
            assert taken == []

    @pytest.mark.parametrize("kind", ["sync", "async"])
    def test_it_ends_in_the_canonical_logs_whatever_the_chain_does_between_two_calls(self, kind: str) -> None:
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
                    cursor = self.read_on(kind, server, taken, cursor)
                # The chain may have come out shorter than what was read; it grows before anything can be found out.
                server.mine(40)
                for _ in range(3):
                    cursor = self.read_on(kind, server, taken, cursor)
                assert taken == server.places(), seed
        assert self.reorgs >= 3


@pytest.fixture(autouse=True)
def no_thread_stays() -> Iterator[None]:
    yield
    ended = time.monotonic() + 5
    while any(thread.name == "keyrail-logs" for thread in threading.enumerate()):
        assert time.monotonic() < ended, "a thread of an iteration stays behind"
        time.sleep(0.01)
