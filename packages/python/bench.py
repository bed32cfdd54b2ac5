"""Measures one provider in its own process. ``npm run measure -- bench --only pythonSync,pythonAsync`` starts several and compares them.

Usage: ``python bench.py {keyrail|web3.py|instant} {sync|async} URL``. Each input line is a workload and a number of calls, such as
``singles 500``. Each output line is the cost of a workload, as JSON. ``instant`` is a provider that takes no time: what is left is
the time of web3.py itself.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from web3 import AsyncHTTPProvider, AsyncWeb3, HTTPProvider, Web3
from web3.providers.async_base import AsyncJSONBaseProvider
from web3.providers.base import JSONBaseProvider

from keyrail import AsyncKeyrailProvider, KeyrailProvider

BATCH = 100
AT_ONCE = 64
ADDRESS = "0x" + "11" * 20


class InstantProvider(JSONBaseProvider):
    """Sends the first call of each method. The others get the same response."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._provider = HTTPProvider(url)
        self._responses: dict[str, Any] = {}

    def make_request(self, method: Any, params: Any) -> Any:
        """Make a call."""
        if method not in self._responses:
            self._responses[method] = self._provider.make_request(method, params)
        return self._responses[method]

    def make_batch_request(self, requests: Any) -> Any:
        """Make several calls."""
        return [self.make_request(method, params) for method, params in requests]


class AsyncInstantProvider(AsyncJSONBaseProvider):
    """The same for asynchronous calls."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._provider = InstantProvider(url)

    async def make_request(self, method: Any, params: Any) -> Any:
        """Make a call."""
        return self._provider.make_request(method, params)

    async def make_batch_request(self, requests: Any) -> Any:
        """Make several calls."""
        return self._provider.make_batch_request(requests)

    async def disconnect(self) -> None:
        """Do nothing: there is no connection."""


SYNC_PROVIDERS: dict[str, Any] = {"keyrail": KeyrailProvider, "web3.py": HTTPProvider, "instant": InstantProvider}
ASYNC_PROVIDERS: dict[str, Any] = {
    "keyrail": AsyncKeyrailProvider,
    "web3.py": AsyncHTTPProvider,
    "instant": AsyncInstantProvider,
}


def singles(w3: Web3, calls: int) -> None:
    """Request block numbers, one after another."""
    for _ in range(calls):
        assert w3.eth.block_number > 0  # noqa: S101


def concurrent(w3: Web3, calls: int) -> None:
    """Request block numbers from threads, this many at a time."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        assert all(number > 0 for number in threads.map(lambda _: w3.eth.block_number, range(calls)))  # noqa: S101


def logs(w3: Web3, calls: int) -> None:
    """Request logs, 5 MB of JSON in each response."""
    for _ in range(calls):
        assert len(w3.eth.get_logs({"fromBlock": 1, "toBlock": 2})) > 1_000  # noqa: S101


def batches(w3: Web3, calls: int) -> None:
    """Request balances in batches."""
    for _ in range(calls // BATCH):
        with w3.batch_requests() as batch:
            for _ in range(BATCH):
                batch.add(w3.eth.get_balance(ADDRESS))  # type: ignore[arg-type]
            assert len(batch.execute()) == BATCH  # noqa: S101


async def async_singles(w3: AsyncWeb3[Any], calls: int) -> None:
    """Request block numbers, one after another."""
    for _ in range(calls):
        assert await w3.eth.block_number > 0  # noqa: S101


async def async_concurrent(w3: AsyncWeb3[Any], calls: int) -> None:
    """Request block numbers, with this concurrency."""
    left = iter(range(calls))

    async def take() -> None:
        for _ in left:
            assert await w3.eth.block_number > 0  # noqa: S101

    await asyncio.gather(*(take() for _ in range(AT_ONCE)))


async def async_logs(w3: AsyncWeb3[Any], calls: int) -> None:
    """Request logs, 5 MB of JSON in each response."""
    for _ in range(calls):
        assert len(await w3.eth.get_logs({"fromBlock": 1, "toBlock": 2})) > 1_000  # noqa: S101


async def async_batches(w3: AsyncWeb3[Any], calls: int) -> None:
    """Request balances in batches."""
    for _ in range(calls // BATCH):
        async with w3.batch_requests() as batch:
            for _ in range(BATCH):
                batch.add(w3.eth.get_balance(ADDRESS))  # type: ignore[arg-type]
            assert len(await batch.async_execute()) == BATCH  # noqa: S101


SYNC = {"singles": singles, "concurrent": concurrent, "batches": batches, "logs": logs}
ASYNC = {"singles": async_singles, "concurrent": async_concurrent, "batches": async_batches, "logs": async_logs}


def print_cost(started: float, cpu: float) -> None:
    """Print the cost of a workload, in milliseconds."""
    cost = {"wallMs": (time.perf_counter() - started) * 1_000, "cpuMs": (time.process_time() - cpu) * 1_000}
    print(json.dumps(cost), flush=True)


def run_sync(library: str, url: str) -> None:
    """Run the workloads from the input with a synchronous provider."""
    w3 = Web3(SYNC_PROVIDERS[library](url))
    for line in sys.stdin:
        gc.collect()
        started, cpu = time.perf_counter(), time.process_time()
        name, calls = line.split()
        SYNC[name](w3, int(calls))
        print_cost(started, cpu)


async def run_async(library: str, url: str) -> None:
    """Run the workloads from the input with an asynchronous provider, in one event loop."""
    provider = ASYNC_PROVIDERS[library](url)
    w3: AsyncWeb3[Any] = AsyncWeb3(provider)
    while line := sys.stdin.readline():
        gc.collect()
        started, cpu = time.perf_counter(), time.process_time()
        name, calls = line.split()
        await ASYNC[name](w3, int(calls))
        print_cost(started, cpu)
    await provider.disconnect()


if __name__ == "__main__":
    _, library, mode, url = sys.argv
    if mode == "async":
        asyncio.run(run_async(library, url))
    else:
        run_sync(library, url)
