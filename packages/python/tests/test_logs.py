"""Logs of a server that rejects large windows: their order, the windows, and the cursor."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chain_server import ChainServer
from eth_utils.address import to_checksum_address
from fault_server import Connection, FaultServer, ReceivedRequest
from hexbytes import HexBytes
from web3 import AsyncWeb3, Web3
from web3.middleware import Web3Middleware

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider, LogsProgress, async_logs, logs

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
HEAD = 2_999
FINALIZED = 2_500


def create_log(block: int, index: int) -> dict[str, Any]:
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
    """A node with two logs in every tenth block. It rejects windows of more than ``max_blocks`` blocks with ``message``."""

    def __init__(self, max_blocks: int = HEAD + 1, message: str = "") -> None:
        self.max_blocks = max_blocks
        self.message = message
        self.windows: list[tuple[int, int]] = []
        self.stray: list[dict[str, Any]] = []
        super().__init__(self.respond)

    def respond(self, request: ReceivedRequest, connection: Connection) -> None:
        method, params = request.json["method"], request.json["params"]
        outcome: dict[str, Any]
        if method == "eth_blockNumber":
            outcome = {"result": hex(HEAD)}
        elif method == "eth_getBlockByNumber":
            outcome = {"result": {"number": hex({"earliest": 0, "finalized": FINALIZED}[params[0]])}}
        else:
            first, last = int(params[0]["fromBlock"], 16), int(params[0]["toBlock"], 16)
            self.windows.append((first, last))
            if last - first + 1 > self.max_blocks:
                outcome = {"error": {"code": -32602, "message": self.message}}
            else:
                blocks = (block for block in range(last, first - 1, -1) if block % 10 == 0)
                outcome = {"result": [*self.stray, *(create_log(block, index) for block in blocks for index in (1, 0))]}
        connection.respond(200, {"jsonrpc": "2.0", "id": request.json["id"], **outcome})


class Run:
    """An iteration by either provider until its end: the returned logs, and the failure."""

    def __init__(self, kind: str, server: FaultServer, **options: Any) -> None:
        self.places: list[tuple[int, int]] = []
        self.failure: KeyrailError | None = None
        iterator: Any
        extra: Any
        if kind == "sync":
            with KeyrailProvider(url=server.url, retry=False) as provider:
                iterator = logs(Web3(provider), **options)
                try:
                    self.places += [(log["blockNumber"], log["logIndex"]) for log in iterator]
                except KeyrailError as failure:
                    self.failure = failure
                extra = next(iterator, None)
        else:

            async def run() -> tuple[Any, Any]:
                async with AsyncKeyrailProvider(url=server.url, retry=False) as provider:
                    iterator = async_logs(AsyncWeb3(provider), **options)
                    try:
                        async for log in iterator:
                            self.places.append((log["blockNumber"], log["logIndex"]))
                    except KeyrailError as failure:
                        self.failure = failure
                    return iterator, await anext(iterator, None)

            iterator, extra = asyncio.run(run())
        assert extra is None, "continues after its end"
        self.cursor = iterator.cursor


def expected_places(first: int, last: int) -> list[tuple[int, int]]:
    return [(block, index) for block in range(first, last + 1) if block % 10 == 0 for index in (0, 1)]


@pytest.fixture
def server() -> Iterator[LogServer]:
    with LogServer() as started:
        yield started


@BOTH
def test_tags_are_resolved_once_and_progress_is_complete(kind: str, server: LogServer) -> None:
    steps: list[LogsProgress] = []
    run = Run(kind, server, from_block="earliest", to_block="finalized", on_progress=steps.append)
    assert run.failure is None
    assert run.places == expected_places(0, FINALIZED)
    assert run.cursor == {"next_block": FINALIZED + 1, "next_log_index": 0}
    assert server.methods[:3] == ["eth_blockNumber", "eth_getBlockByNumber", "eth_getBlockByNumber"]
    assert sum(step.blocks for step in steps) == steps[-1].blocks_done == steps[-1].blocks_total == FINALIZED + 1
    assert steps[-1].logs == len(run.places)


@BOTH
@pytest.mark.parametrize(
    ("message", "max_blocks", "rejections"),
    [("query exceeds max block range 300", 300, 1), ("block range is too large", 200, 3)],
    ids=["named", "halved"],
)
def test_a_rejected_window_is_read_in_smaller_windows(
    kind: str, message: str, max_blocks: int, rejections: int
) -> None:
    with LogServer(max_blocks, message) as server:
        run = Run(kind, server, from_block=0)
        sizes = [last - first + 1 for first, last in server.windows]
        assert run.failure is None
        assert run.places == expected_places(0, HEAD)
        # The rejections before the first success. A number in the message is used at once, else the window is halved.
        assert [size > max_blocks for size in sizes].index(False) == rejections
        if rejections == 1:
            assert sizes[0] == 1_000
            assert set(sizes[1:]) == {300, 100, 200}
            assert len(sizes) == 12


@BOTH
def test_a_block_with_too_many_logs_is_a_failure_that_names_it(kind: str) -> None:
    with LogServer(0, "block range is too large") as server:
        run = Run(kind, server, from_block=70)
        assert run.failure is not None
        assert run.failure.kind == "range"
        assert "Block 70 alone has more logs" in str(run.failure)
        assert run.cursor == {"next_block": 70, "next_log_index": 0}
        assert server.windows[-1] == (70, 70)


@BOTH
def test_logs_outside_the_requested_range_are_a_failure(kind: str, server: LogServer) -> None:
    server.stray = [create_log(HEAD + 7, 0)]
    run = Run(kind, server, from_block=0)
    assert run.failure is not None
    assert run.failure.kind == "badResponse"
    assert run.places == []


@BOTH
def test_a_failure_to_get_the_head_ends_the_iteration(kind: str, server: LogServer) -> None:
    server.script = lambda request, connection: connection.respond(401, "no", {})
    run = Run(kind, server, from_block=0)
    assert run.failure is not None
    assert run.failure.kind == "auth"
    assert run.cursor == {"next_block": 0, "next_log_index": 0}
    run = Run(kind, server, from_block="earliest")
    assert run.cursor is None
    assert len(server.requests) == 2


@BOTH
def test_a_cursor_can_point_inside_a_block(kind: str, server: LogServer) -> None:
    run = Run(kind, server, from_block=0, to_block=60, cursor={"next_block": 40, "next_log_index": 1})
    assert run.places == expected_places(0, 60)[9:]
    assert server.windows == [(40, 60)]


@BOTH
@pytest.mark.parametrize(
    "address",
    [
        "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",
        "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
        bytes.fromhex("a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"),
    ],
    ids=["lower case", "checksum", "bytes"],
)
def test_blocks_in_hex_and_addresses_in_any_form_are_accepted(kind: str, server: LogServer, address: Any) -> None:
    topic = bytes.fromhex("11" * 32)
    for given in (address, [address]):
        run = Run(kind, server, from_block="0x14", to_block="0x1e", address=given, topics=[topic, [topic], None])
        assert run.failure is None
        assert run.places == expected_places(20, 30)
        sent = server.requests[-1].json["params"][0]
        assert sent["address"] == ["0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"]
        assert sent["topics"] == ["0x" + "11" * 32, ["0x" + "11" * 32], None]


@BOTH
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"from_block": -1}, "from_block"),
        ({"from_block": "12"}, 'from_block must be a block number, also in hex as "0x10", .*, not "12"'),
        ({"address": "0xA0B86991c6218b36c1d19D4a2e9Eb0cE3606eB48"}, "checksum must be correct"),
        ({"address": ["0x12"]}, "address must be 20 bytes in hex"),
        ({"address": [7]}, "address must be 20 bytes, not 7"),
        ({"address": 7}, "address must be an address or a list"),
        ({"topics": "0x" + "11" * 32}, "topics must be a list"),
        ({"topics": [None] * 5}, "at most 4 topics"),
        ({"event": "Transfer"}, "event cannot be parsed"),
        ({"event": "Sync()", "topics": ["0x" + "11" * 32]}, "the first of topics must be None"),
        ({"to_block": "pending"}, "to_block"),
        ({"from_block": 9, "to_block": 8}, "must not be greater than"),
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
def test_a_wrong_option_is_rejected_before_any_request(
    kind: str, server: LogServer, wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(KeyrailError, match=message) as caught:
        Run(kind, server, **{"from_block": 0, **wrong})
    assert caught.value.kind == "invalidRequest"
    assert server.requests == []


VALID_LOG = {
    "address": "0x" + "11" * 20,
    "topics": [],
    "data": "0x",
    "blockNumber": "0x1",
    "blockHash": "0x" + "22" * 32,
    "transactionHash": "0x" + "33" * 32,
    "transactionIndex": "0x0",
    "logIndex": "0x0",
    "removed": False,
}
INVALID_RESULTS: dict[str, list[Any]] = {
    "eth_blockNumber": ["zz", {}, None, "0x"],
    "eth_getBlockByNumber": [{}, "0x1", {"number": "zz"}, []],
    "eth_getLogs": [
        {},
        "0x",
        7,
        [None],
        ["0x"],
        *[
            [{**VALID_LOG, name: value}]
            for name in ("blockNumber", "logIndex", "blockHash")
            for value in (None, "zz", 1.5)
        ],
        *[[{**VALID_LOG, name: value}] for name, value in (("topics", None), ("data", None), ("data", "zz"))],
        *[[{one: VALID_LOG[one] for one in VALID_LOG if one != name}] for name in ("blockNumber", "data", "topics")],
        [VALID_LOG, {**VALID_LOG, "blockHash": "0x" + "44" * 32}],
    ],
}


@BOTH
@pytest.mark.parametrize(
    ("method", "result"),
    [(method, result) for method, results in INVALID_RESULTS.items() for result in results],
    ids=range(sum(map(len, INVALID_RESULTS.values()))),
)
def test_a_result_that_is_not_valid_is_a_failure_in_each_step(
    kind: str, method: str, result: Any, tmp_path: Path
) -> None:
    with ChainServer(3) as server:
        valid = server.call
        patched: Any = server
        patched.call = lambda called, params: result if called == method else valid(called, params)
        options: dict[str, Any] = {"from_block": "earliest", "to_block": 3}

        def iterate() -> None:
            with KeyrailProvider(url=server.url, retry=False) as provider:
                list(logs(Web3(provider), **options))

        def export() -> None:
            with KeyrailProvider(url=server.url, retry=False) as provider:
                logs(Web3(provider), **options).to_parquet(tmp_path / "logs.parquet")

        async def iterate_async() -> None:
            async with AsyncKeyrailProvider(url=server.url, retry=False) as provider:
                assert [log async for log in async_logs(AsyncWeb3(provider), **options)]

        for run in (iterate, export) if kind == "sync" else (lambda: asyncio.run(iterate_async()),):
            with pytest.raises(KeyrailError) as caught:
                run()
            assert caught.value.kind == "badResponse"


@BOTH
@pytest.mark.parametrize("limit", ["9" * 400, "9" * 400 + "k", "0x" + "f" * 900], ids=["decimal", "thousands", "hex"])
def test_a_limit_of_any_length_in_a_rejection_is_read(kind: str, limit: str) -> None:
    with LogServer(200, f"query exceeds max block range {limit}") as server:
        run = Run(kind, server, from_block=0)
        assert run.failure is None
        assert run.places == expected_places(0, HEAD)


class BrokenMiddleware(Web3Middleware):
    """A middleware of the user, with a bug in what it does after the request for logs."""

    break_down: Callable[[], object]

    def wrap_make_request(self, make_request: Any) -> Any:
        def request(method: Any, params: Any) -> Any:
            response = make_request(method, params)
            if method == "eth_getLogs":
                self.break_down()
            return response

        return request

    async def async_wrap_make_request(self, make_request: Any) -> Any:
        async def request(method: Any, params: Any) -> Any:
            response = await make_request(method, params)
            if method == "eth_getLogs":
                self.break_down()
            return response

        return request


BUGS: dict[str, tuple[Callable[[], object], type[Exception]]] = {
    "ValueError": (lambda: int("one"), ValueError),
    "TypeError": (lambda: len(5), TypeError),  # type: ignore[arg-type]
    "KeyError": (lambda: dict[str, int]()["name"], KeyError),
    "AttributeError": (lambda: None.name, AttributeError),  # type: ignore[attr-defined]
    "an exception of eth_utils": (lambda: to_checksum_address("0x1"), ValueError),
    "an exception of hexbytes": (lambda: HexBytes("0xzz"), ValueError),
    "an exception of json": (lambda: json.loads("{"), ValueError),
}


@BOTH
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_in_a_middleware_is_not_blamed_on_the_node(kind: str, bug: str) -> None:
    break_down, expected = BUGS[bug]
    middleware = type("Middleware", (BrokenMiddleware,), {"break_down": staticmethod(break_down)})

    def iterate(url: str) -> None:
        with KeyrailProvider(url=url) as provider:
            list(logs(Web3(provider, middleware=[middleware]), from_block=0, to_block=9))

    async def iterate_async(url: str) -> None:
        async with AsyncKeyrailProvider(url=url) as provider:
            assert [
                log async for log in async_logs(AsyncWeb3(provider, middleware=[middleware]), from_block=0, to_block=9)
            ]

    with LogServer() as server, pytest.raises(expected) as caught:
        iterate(server.url) if kind == "sync" else asyncio.run(iterate_async(server.url))
    assert not isinstance(caught.value, KeyrailError)
    assert "<lambda>" in [entry.name for entry in caught.traceback if entry.path == Path(__file__)]


@BOTH
def test_a_log_that_is_sent_twice_is_returned_once_and_null_is_no_log(kind: str) -> None:
    with ChainServer([1, 1]) as server:
        valid = server.call
        patched: Any = server
        patched.call = lambda method, params: valid(method, params) * (2 if method == "eth_getLogs" else 1)
        assert Run(kind, server, from_block=0, to_block=2).places == [(1, 0), (2, 0)]
        patched.call = lambda method, params: None if method == "eth_getLogs" else valid(method, params)
        run = Run(kind, server, from_block=0, to_block=2)
        assert (run.places, run.failure) == ([], None)
