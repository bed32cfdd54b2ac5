"""The memory that an export to Parquet takes. ``python tests/verify_parquet_memory.py`` measures a million logs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest

LOGS_PER_BLOCK = 10
MAX_MB = 200
TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
EVENT = "Transfer(address indexed from, address indexed to, uint256 value)"

PROGRAM = """
import json, resource, sys, time
from web3 import Web3
from keyrail import KeyrailProvider, logs

url, path, last, event = sys.argv[1:]
started = time.monotonic()
with KeyrailProvider(url=url) as provider:
    result = logs(Web3(provider), from_block=0, to_block=int(last), event=event or None).to_parquet(path)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
peak_mb = peak / 2**20 if sys.platform == "darwin" else peak / 1024
print(json.dumps({"logs": result.logs, "peak_mb": peak_mb, "seconds": time.monotonic() - started}))
"""


def create_log(block: int, index: int) -> str:
    """Write a log as JSON. Topics, data and hashes differ, as those of real logs do."""
    place = block * LOGS_PER_BLOCK + index
    log = {
        "address": f"0x{place % 97:040x}",
        "topics": [TOPIC, f"0x{place * 7919 % 10**9:064x}", f"0x{place * 104729 % 10**9:064x}"],
        "data": f"0x{place * 15485863:064x}",
        "blockNumber": hex(block),
        "blockTimestamp": hex(1_700_000_000 + block),
        "blockHash": f"0x{block * 2654435761:064x}",
        "transactionHash": f"0x{place * 40503 * 2**200:064x}",
        "transactionIndex": hex(index),
        "logIndex": hex(index),
        "removed": False,
    }
    return json.dumps(log)


def respond(last: int) -> Any:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        method, params = request.json["method"], request.json["params"]
        if method == "eth_getLogs":
            first, end = int(params[0]["fromBlock"], 16), int(params[0]["toBlock"], 16)
            logs = (create_log(block, index) for block in range(first, end + 1) for index in range(LOGS_PER_BLOCK))
            result = f"[{','.join(logs)}]"
        elif method == "eth_getBlockByNumber":
            number = int(params[0], 16)
            result = json.dumps({"number": hex(number), "hash": f"0x{number * 2654435761:064x}"})
        else:
            result = '"0x1"' if method == "eth_chainId" else f'"{hex(last)}"'
        connection.respond(200, f'{{"jsonrpc":"2.0","id":{request.json["id"]},"result":{result}}}')

    return script


def measure(logs: int, event: str, folder: Path) -> dict[str, Any]:
    last = logs // LOGS_PER_BLOCK - 1
    with FaultServer(respond(last)) as server:
        command = [sys.executable, "-c", PROGRAM, server.url, str(folder / "logs.parquet"), str(last), event]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    measured: dict[str, Any] = json.loads(output)
    return {**measured, "file_mb": (folder / "logs.parquet").stat().st_size / 2**20}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no module resource")
@pytest.mark.parametrize("event", ["", EVENT], ids=["raw", "decoded"])
def test_an_export_needs_little_memory(event: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'keyrail[parquet]'")
    measured = measure(200_000, event, tmp_path)
    assert measured["logs"] == 200_000
    assert measured["peak_mb"] <= MAX_MB


if __name__ == "__main__":
    for chosen in ("", EVENT):
        with TemporaryDirectory() as name:
            print(measure(1_000_000, chosen, Path(name)))
