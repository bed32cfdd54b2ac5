"""Logs over a server that refuses windows: in what order, in which windows, and where an iteration goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from fault_server import FaultServer, Seen, Wire
from web3 import AsyncWeb3, Web3

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider, LogsProgress, async_logs, logs

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
HEAD = 2_999
FINALIZED = 2_500


def log_of(block: int, index: int) -> dict[str, Any]:
    return {
        "address": "0x" + "11" * 20,
        "topics": [],
        "data": "0x",
        "blockNumber": hex(block),
        "blockHash": "0x" + "22" * 32,
        "transactionHash": "0x" + "33" * 32,
        "transactionIndex": "0x0",
        "logIndex": hex(index),
        "removed": False,
    }


class LogServer(FaultServer):
    """A node with two logs in each tenth block; it refuses windows of more than ``most`` blocks with ``words``."""

    def __init__(self, most: int = HEAD + 1, words: str = "") -> None:
        self.most = most
        self.words = words
        self.windows: list[tuple[int, int]] = []
        self.stray: list[dict[str, Any]] = []
        super().__init__(self.respond)

    def respond(self, seen: Seen, wire: Wire) -> None:
        method, params = seen.json["method"], seen.json["params"]
        end: dict[str, Any]
        if method == "eth_blockNumber":
            end = {"result": hex(HEAD)}
        elif method == "eth_getBlockByNumber":
            end = {"result": {"number": hex({"earliest": 0, "finalized": FINALIZED}[params[0]])}}
        else:
            first, last = int(params[0]["fromBlock"], 16), int(params[0]["toBlock"], 16)
            self.windows.append((first, last))
            if last - first + 1 > self.most:
                end = {"error": {"code": -32602, "message": self.words}}
            else:
                blocks = (block for block in range(last, first - 1, -1) if block % 10 == 0)
                end = {"result": [*self.stray, *(log_of(block, index) for block in blocks for index in (1, 0))]}
        wire.answer(200, {"jsonrpc": "2.0", "id": seen.json["id"], **end})


class Run:
    """One iteration, by either way, to its end: what was given, and what it failed with."""

    def __init__(self, kind: str, server: LogServer, **options: Any) -> None:
        self.given: list[tuple[int, int]] = []
        self.failure: KeyrailError | None = None
        given: Any
        again: Any
        if kind == "sync":
            with KeyrailProvider(url=server.url, retry=False) as provider:
                given = logs(Web3(provider), **options)
                try:
                    self.given += [(log["blockNumber"], log["logIndex"]) for log in given]
                except KeyrailError as failure:
                    self.failure = failure
                again = next(given, None)
        else:

            async def run() -> tuple[Any, Any]:
                async with AsyncKeyrailProvider(url=server.url, retry=False) as provider:
                    given = async_logs(AsyncWeb3(provider), **options)
                    try:
                        async for log in given:
                            self.given.append((log["blockNumber"], log["logIndex"]))
                    except KeyrailError as failure:
                        self.failure = failure
                    return given, await anext(given, None)

            given, again = asyncio.run(run())
        assert again is None, "goes on after its end"
        self.cursor = given.cursor


def wanted(first: int, last: int) -> list[tuple[int, int]]:
    return [(block, index) for block in range(first, last + 1) if block % 10 == 0 for index in (0, 1)]


@pytest.fixture
def server() -> Iterator[LogServer]:
    with LogServer() as started:
        yield started


@BOTH
def test_tags_are_looked_up_once_and_progress_adds_up(kind: str, server: LogServer) -> None:
    steps: list[LogsProgress] = []
    run = Run(kind, server, from_block="earliest", to_block="finalized", on_progress=steps.append)
    assert run.failure is None
    assert run.given == wanted(0, FINALIZED)
    assert run.cursor == {"next_block": FINALIZED + 1, "next_log_index": 0}
    assert server.methods[:3] == ["eth_blockNumber", "eth_getBlockByNumber", "eth_getBlockByNumber"]
    assert sum(step.blocks for step in steps) == steps[-1].blocks_done == steps[-1].blocks_total == FINALIZED + 1
    assert steps[-1].logs == len(run.given)


@BOTH
@pytest.mark.parametrize(
    ("words", "most", "refusals"),
    [("query exceeds max block range 300", 300, 1), ("block range is too large", 200, 3)],
    ids=["named", "halved"],
)
def test_a_window_that_is_refused_is_asked_in_smaller_ones(kind: str, words: str, most: int, refusals: int) -> None:
    with LogServer(most, words) as server:
        run = Run(kind, server, from_block=0)
        sizes = [last - first + 1 for first, last in server.windows]
        assert run.failure is None
        assert run.given == wanted(0, HEAD)
        # Before the first that is served: a number is believed, else it is halved.
        assert [size > most for size in sizes].index(False) == refusals
        if refusals == 1:
            assert sizes[0] == 1_000
            assert set(sizes[1:]) == {300, 100, 200}
            assert len(sizes) == 12


@BOTH
def test_a_block_that_is_too_much_by_itself_is_named_and_the_cursor_stands_before_it(kind: str) -> None:
    with LogServer(0, "block range is too large") as server:
        run = Run(kind, server, from_block=70)
        assert run.failure is not None
        assert run.failure.kind == "range"
        assert "block 70 alone has more logs" in str(run.failure)
        assert run.cursor == {"next_block": 70, "next_log_index": 0}
        assert server.windows[-1] == (70, 70)


@BOTH
def test_logs_of_blocks_that_were_not_asked_for_are_not_believed(kind: str, server: LogServer) -> None:
    server.stray = [log_of(HEAD + 7, 0)]
    run = Run(kind, server, from_block=0)
    assert run.failure is not None
    assert run.failure.kind == "badResponse"
    assert run.given == []


@BOTH
def test_where_the_head_cannot_be_asked_it_ends(kind: str, server: LogServer) -> None:
    server.script = lambda seen, wire: wire.answer(401, "no", {})
    run = Run(kind, server, from_block=0)
    assert run.failure is not None
    assert run.failure.kind == "auth"
    assert run.cursor == {"next_block": 0, "next_log_index": 0}
    run = Run(kind, server, from_block="earliest")
    assert run.cursor is None
    assert len(server.seen) == 2


@BOTH
def test_it_goes_on_in_the_midst_of_a_block(kind: str, server: LogServer) -> None:
    run = Run(kind, server, from_block=0, to_block=60, cursor={"next_block": 40, "next_log_index": 1})
    assert run.given == wanted(0, 60)[9:]
    assert server.windows == [(40, 60)]


@BOTH
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"from_block": -1}, "from_block"),
        ({"to_block": "pending"}, "to_block"),
        ({"from_block": 9, "to_block": 8}, "must not be above"),
        ({"max_blocks": 0}, "max_blocks"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": 65}, "concurrency"),
        ({"concurrency": 4.0}, "concurrency"),
        ({"check_reorg": 1}, "check_reorg"),
        ({"cursor": {"next_block": 7, "next_log_index": True}}, "cursor"),
        ({"cursor": {"next_block": 7, "next_log_index": 0, "edges": [[6, "0x12"]]}}, "cursor"),
        ({"on_progress": 7}, "on_progress"),
        ({"cursor": {"next_block": 7}}, "cursor"),
        ({"cursor": [7, 0]}, "cursor"),
    ],
)
def test_a_wrong_option_is_refused_at_once(kind: str, server: LogServer, wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(KeyrailError, match=words) as caught:
        Run(kind, server, **{"from_block": 0, **wrong})
    assert caught.value.kind == "invalidRequest"
    assert server.seen == []
