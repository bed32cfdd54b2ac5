"""Measures the providers beside web3.py's own, interleaved, against a small server in another process.

Run it as ``python bench.py [rounds]``. Each round takes 5,000 block numbers one after another, and 5,000 balances in batches
of 100, with each provider in turn.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import socket
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from web3 import AsyncHTTPProvider, AsyncWeb3, HTTPProvider, Web3

from keyrail import AsyncKeyrailProvider, KeyrailProvider

CALLS = 5_000
BATCH = 100
ADDRESS = "0x" + "11" * 20


def serve(listener: socket.socket) -> None:
    """Answer every call by 0x1b4, over connections that are kept."""

    class Answers(asyncio.Protocol):
        def connection_made(self, transport: Any) -> None:
            self.transport = transport
            self.held = b""

        def data_received(self, data: bytes) -> None:
            self.held += data
            head, found, body = self.held.partition(b"\r\n\r\n")
            if not found:
                return
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            if len(body) < length:
                return
            self.held = b""
            calls = json.loads(body)
            one = '{"jsonrpc":"2.0","id":%d,"result":"0x1b4"}'
            text = f"[{','.join(one % call['id'] for call in calls)}]" if isinstance(calls, list) else one % calls["id"]
            answer = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(text)}\r\n\r\n{text}"
            self.transport.write(answer.encode())

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Answers, sock=listener)
        await server.serve_forever()

    asyncio.run(run())


def singles(w3: Web3) -> None:
    """Take the block numbers."""
    for _ in range(CALLS):
        w3.eth.block_number  # noqa: B018


def batches(w3: Web3) -> None:
    """Take the balances."""
    for _ in range(CALLS // BATCH):
        with w3.batch_requests() as batch:
            for _ in range(BATCH):
                batch.add(w3.eth.get_balance(ADDRESS))  # type: ignore[arg-type]
            assert len(batch.execute()) == BATCH  # noqa: S101


async def async_singles(w3: AsyncWeb3[Any]) -> None:
    """Take the block numbers."""
    for _ in range(CALLS):
        await w3.eth.block_number


async def async_batches(w3: AsyncWeb3[Any]) -> None:
    """Take the balances."""
    for _ in range(CALLS // BATCH):
        async with w3.batch_requests() as batch:
            for _ in range(BATCH):
                batch.add(w3.eth.get_balance(ADDRESS))  # type: ignore[arg-type]
            assert len(await batch.async_execute()) == BATCH  # noqa: S101


def main(rounds: int) -> None:
    """Print the medians."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = multiprocessing.get_context("fork").Process(target=serve, args=(listener,), daemon=True)
    server.start()
    took: dict[tuple[str, str], list[float]] = {}

    def timed(row: str, who: str, run: Callable[[], object]) -> None:
        started = time.perf_counter()
        run()
        took.setdefault((row, who), []).append(time.perf_counter() - started)

    async def timed_async(row: str, who: str, run: Callable[[], Awaitable[object]]) -> None:
        started = time.perf_counter()
        await run()
        took.setdefault((row, who), []).append(time.perf_counter() - started)

    async def async_round() -> None:
        ours, theirs = AsyncKeyrailProvider(url=url), AsyncHTTPProvider(url)
        for who, provider in (("keyrail", ours), ("web3.py", theirs)):
            w3: AsyncWeb3[Any] = AsyncWeb3(provider)
            await timed_async("async: 5,000 block numbers", who, lambda w3=w3: async_singles(w3))  # type: ignore[misc]
            await timed_async("async: batches of 100", who, lambda w3=w3: async_batches(w3))  # type: ignore[misc]
        await ours.close()
        await theirs.disconnect()

    for _ in range(rounds):
        for who, provider in (("keyrail", KeyrailProvider(url=url)), ("web3.py", HTTPProvider(url))):
            w3 = Web3(provider)
            timed("5,000 block numbers", who, lambda w3=w3: singles(w3))  # type: ignore[misc]
            timed("batches of 100", who, lambda w3=w3: batches(w3))  # type: ignore[misc]
        asyncio.run(async_round())
    for row in dict.fromkeys(row for row, _ in took):
        ours, theirs = (statistics.median(took[row, who]) for who in ("keyrail", "web3.py"))
        print(f"{row}: keyrail {ours:.2f} s, web3.py {theirs:.2f} s, {theirs / ours:.2f} times as fast")
    server.terminate()
    server.join()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
