"""Exports to Parquet: columns, interruptions, reorganizations, and files that must not be changed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from chain_server import ChainServer, NodeError, Place
from test_events import ALICE, BOB, NAMED, NAMED_TOPIC, OWNER, TRANSFER, UNDECODABLE, create_transfer
from web3 import AsyncWeb3, Web3

from keyrail import AsyncKeyrailProvider, ExportResult, KeyrailError, KeyrailProvider, async_logs, logs

parquet: Any = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed: pip install 'keyrail[parquet]'")
BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
RAW = "blockNumber blockHash blockTimestamp transactionHash transactionIndex logIndex address topic0 topic1 topic2 topic3 data"


def export(kind: str, server: ChainServer, path: Path, overwrite: bool = False, **options: Any) -> ExportResult:
    options = {"from_block": 0, **options}
    if kind == "sync":
        with KeyrailProvider(url=server.url, retry=False) as provider:
            return logs(Web3(provider), **options).to_parquet(path, overwrite=overwrite)

    async def run() -> ExportResult:
        async with AsyncKeyrailProvider(url=server.url, retry=False) as provider:
            return await async_logs(AsyncWeb3(provider), **options).to_parquet(path, overwrite=overwrite)

    return asyncio.run(run())


def read_places(path: Path) -> list[Place]:
    rows = parquet.read_table(path, columns=["blockNumber", "logIndex", "blockHash"]).to_pylist()
    return [(row["blockNumber"], row["logIndex"], row["blockHash"]) for row in rows]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "logs.parquet"


@BOTH
def test_each_log_is_a_row_in_the_order_of_the_chain(kind: str, path: Path) -> None:
    with ChainServer(700) as server:
        server.log_members = lambda number, index: {
            "blockTimestamp": hex(1_700_000_000 + number),
            **create_transfer(number, index),
        }
        result = export(kind, server, path)
        table = parquet.read_table(path)
        assert read_places(path) == server.places()
    assert result == ExportResult(path, table.num_rows, 0, 0, 700, False)
    assert table.column_names == RAW.split()
    row = table.to_pylist()[1]
    assert row["blockTimestamp"].timestamp() == 1_700_000_000 + row["blockNumber"]
    assert row["topic3"] == create_transfer(row["blockNumber"], 1)["topics"][3]
    assert (row["data"], row["transactionIndex"]) == ("0x", 0)
    assert os.listdir(path.parent) == [path.name]


def test_the_parameters_of_an_event_are_columns(path: Path) -> None:
    with ChainServer(30) as server:
        server.log_members = create_transfer
        result = export("sync", server, path, event=TRANSFER)
    assert (result.logs, result.skipped) == (10, 10)
    table = parquet.read_table(path)
    assert table.column_names == [*RAW.split()[:7], "from", "to", "value", "undecodedData"]
    row = table.to_pylist()[0]
    # An integer of 256 bits does not fit into the decimals of Parquet readers.
    assert (row["from"], row["to"], row["value"]) == (ALICE, BOB, str(2**255 + 1))


def test_each_type_has_a_column_type(path: Path) -> None:
    with ChainServer([]) as server:
        event = "E(uint64 a, int40 b, uint72 c, bool d, bytes4 e, (uint8 n, uint256[] big)[] f, string indexed g, uint8 address, uint)"
        export("sync", server, path, event=event)
    columns = {column.name: str(column.type) for column in list(parquet.read_schema(path))[7:]}
    assert {name: kind.replace("list<element:", "list<item:") for name, kind in columns.items()} == {
        "a": "uint64",
        "b": "int64",
        "c": "string",
        "d": "bool",
        "e": "string",
        "f": "list<item: struct<n: int64, big: list<item: string>>>",
        "g": "string",
        "arg_address": "int64",
        "arg8": "string",
        "undecodedData": "string",
    }


@BOTH
def test_logs_that_cannot_be_decoded_are_rows_with_their_data(kind: str, path: Path) -> None:
    with ChainServer([1] * len(UNDECODABLE)) as server:
        server.log_members = lambda number, _: {"topics": [NAMED_TOPIC, OWNER], "data": UNDECODABLE[number - 1]}
        result = export(kind, server, path, event=NAMED)
    assert (result.logs, result.skipped, result.undecoded) == (len(UNDECODABLE), 0, len(UNDECODABLE))
    rows = parquet.read_table(path).to_pylist()
    assert [row["undecodedData"] for row in rows] == UNDECODABLE
    assert {row["name"] for row in rows} == {None}
    # The other parameters of a string that is not UTF-8 are there.
    assert rows[0]["expires"] == "7"


@BOTH
def test_an_export_above_the_last_block_says_so(kind: str, path: Path) -> None:
    with ChainServer(20) as server:
        for options in (
            {"from_block": 21},
            {"from_block": 21, "to_block": 30},
            {"from_block": 5, "to_block": "finalized"},
        ):
            with pytest.raises(KeyrailError, match="is above the last block to export, which is now") as caught:
                export(kind, server, path, **options)
            assert (caught.value.kind, caught.value.retryable) == ("lagging", True)
        assert not path.exists()
        server.mine([1])
        assert export(kind, server, path, from_block=21).logs == 1


@BOTH
def test_the_same_call_resumes_after_each_failure(kind: str, path: Path) -> None:
    with ChainServer(900) as server:
        server.before = fail_each_third_read()
        results: list[ExportResult] = []
        failures: list[str] = []
        for _ in range(100):
            try:
                results.append(export(kind, server, path, max_blocks=40, to_block=890))
                break
            except KeyrailError as failure:
                failures.append(failure.kind)
            # The blocks above were not in the chain when the export started.
            server.mine(1)
        assert read_places(path) == server.places(0, 890)
    assert set(failures) == {"unavailable"}
    assert results[0].resumed
    assert (results[0].from_block, results[0].to_block) == (0, 890)


def fail_each_third_read() -> Any:
    reads = 0

    def fail(method: str, params: Any) -> None:
        nonlocal reads
        if method == "eth_getLogs":
            reads += 1
            if reads % 3 == 0:
                raise NodeError(-32000, "no healthy upstream", status=503)

    return fail


PROGRAM = """
import sys, time
from web3 import Web3
from keyrail import KeyrailProvider, logs
# The name keyrail.logs is the function.
sys.modules["keyrail.logs.parquet_export"]._CHECKPOINT_S = 0
with KeyrailProvider(url=sys.argv[1]) as provider:
    print("started", flush=True)
    logs(Web3(provider), from_block=0, to_block=2_000, max_blocks=20).to_parquet(sys.argv[2])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_killed_process_leaves_no_gap_and_no_duplicate(path: Path) -> None:
    with ChainServer(2_000) as server:
        server.before = lambda method, params: time.sleep(0.002)
        kills = 0
        for reads in range(8, 80, 24):
            before = len(server.spans)
            with subprocess.Popen(
                [sys.executable, "-c", PROGRAM, server.url, str(path)], stdout=subprocess.PIPE
            ) as process:
                while len(server.spans) - before < reads and process.poll() is None:
                    time.sleep(0.001)
                process.send_signal(signal.SIGKILL)
                kills += process.wait() == -signal.SIGKILL
            if path.exists():
                break
        assert kills >= 2
        if not path.exists():
            assert export("sync", server, path, to_block=2_000).resumed
        assert read_places(path) == server.places()


@BOTH
def test_logs_of_replaced_blocks_are_removed(kind: str, path: Path) -> None:
    with ChainServer(300) as server:

        def reorg(method: str, params: Any) -> None:
            # After the logs of the newest blocks were returned.
            if method == "eth_getLogs" and int(params[0]["toBlock"], 16) == 300:
                server.after = lambda method, params: None
                server.reorg(20)

        server.after = reorg
        result = export(kind, server, path)
        assert read_places(path) == server.places()
    assert result.logs == len(server.places())


@BOTH
def test_a_reorganization_between_two_runs_is_noticed(kind: str, path: Path) -> None:
    with ChainServer(300) as server:

        def fail_at_the_end(method: str, params: Any) -> None:
            if method == "eth_getLogs" and int(params[0]["toBlock"], 16) == 300:
                raise NodeError(-32000, "no healthy upstream", status=503)

        server.before = fail_at_the_end
        with pytest.raises(KeyrailError):
            export(kind, server, path, max_blocks=10, to_block=300)
        assert json.loads(path.with_name("logs.parquet.cursor").read_text())["cursor"]["next_block"] > 280
        server.before = lambda method, params: None
        server.reorg(30)
        assert export(kind, server, path, to_block=300).resumed
        assert read_places(path) == server.places()


def interrupt(server: ChainServer, path: Path, **options: Any) -> None:
    def fail(method: str, params: Any) -> None:
        if method == "eth_getLogs" and int(params[0]["toBlock"], 16) >= 200:
            raise NodeError(-32000, "no healthy upstream", status=503)

    server.before = fail
    with pytest.raises(KeyrailError, match="no healthy upstream"):
        export("sync", server, path, max_blocks=50, **options)
    server.before = lambda method, params: None


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"from_block": 1}, "another from_block"),
        ({"to_block": 250}, "another to_block"),
        ({"address": ALICE}, "another address"),
        ({"topics": ["0x" + "11" * 32]}, "another topics"),
        ({"event": TRANSFER}, "another columns and topics"),
    ],
)
def test_other_settings_do_not_resume_an_export(path: Path, changed: dict[str, Any], names: str) -> None:
    with ChainServer(300) as server:
        interrupt(server, path)
        before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
        with pytest.raises(KeyrailError, match=names):
            export("sync", server, path, **changed)
        assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before
        # The same range, written in another way.
        assert export("sync", server, path, from_block="0x0").resumed
        assert read_places(path) == server.places()


def test_overwrite_starts_over(path: Path) -> None:
    with ChainServer(300) as server:
        interrupt(server, path)
        assert not export("sync", server, path, overwrite=True, from_block=100).resumed
        assert read_places(path) == server.places(100)
        assert not export("sync", server, path, overwrite=True).resumed
        assert read_places(path) == server.places()


def test_an_existing_file_is_not_changed(path: Path) -> None:
    path.write_text("mine")
    with ChainServer(3) as server:
        with pytest.raises(KeyrailError, match="exists"):
            export("sync", server, path)
        assert server.calls == []
    assert path.read_text() == "mine"
    assert os.listdir(path.parent) == [path.name]


def test_files_that_were_changed_are_rejected(path: Path) -> None:
    with ChainServer(300) as server:
        interrupt(server, path)
        partial = path.with_name("logs.parquet.partial")
        partial.write_bytes(partial.read_bytes()[:100])
        with pytest.raises(KeyrailError, match="not those of an unfinished export"):
            export("sync", server, path)


def test_two_exports_cannot_write_the_same_file(path: Path) -> None:
    with ChainServer(300) as server:

        def export_again(method: str, params: Any) -> None:
            if method == "eth_getLogs":
                server.before = lambda method, params: None
                with pytest.raises(KeyrailError, match="Another process writes"):
                    export("sync", server, path)

        server.before = export_again
        export("sync", server, path)
        assert read_places(path) == server.places()


@BOTH
def test_a_node_that_falls_behind_does_not_shorten_the_export(kind: str, path: Path) -> None:
    with ChainServer(300) as server:
        interrupt(server, path)
        server.reorg(100, 0)
        with pytest.raises(KeyrailError, match="does not have block 300 yet") as caught:
            export(kind, server, path)
        assert caught.value.kind == "lagging"
        server.mine(100)
        export(kind, server, path)
        assert read_places(path) == server.places()


@pytest.mark.parametrize("members", [{"data": "0xzz"}, {"blockHash": None}, {"topics": "0x"}, {"logIndex": "one"}])
def test_a_log_that_is_not_valid_is_a_failure(path: Path, members: dict[str, Any]) -> None:
    with ChainServer(3) as server:
        server.log_members = lambda number, index: members
        with pytest.raises(KeyrailError, match="not valid") as caught:
            export("sync", server, path)
    assert caught.value.kind == "badResponse"


def test_without_pyarrow_the_message_names_the_extra(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with ChainServer(3) as server, pytest.raises(ImportError, match=r"pip install 'keyrail\[parquet\]'"):
        export("sync", server, path)
    assert os.listdir(path.parent) == []
