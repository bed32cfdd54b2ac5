"""Drives the steps of an iteration over logs: queries web3.py, and reads several windows concurrently."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Generator
from traceback import walk_tb
from typing import Any

from ens.exceptions import ENSException  # type: ignore[import-untyped]
from web3.exceptions import BlockNotFound, Web3Exception
from web3.types import LogReceipt

from ..failure.check import invalid
from ..failure.error import KeyrailError, create_error
from .log_reader import LogReader, Wait
from .log_windows import LogWindow
from .query import Query, QuerySteps, create_invalid_result_error

# What web3.py raises when it converts a result that is not valid.
_INVALID_RESULT = (ValueError, TypeError, KeyError, AttributeError, OverflowError)
# The libraries that web3.py converts results with.
_CONVERTERS = frozenset({"cytoolz", "eth_abi", "eth_utils", "hexbytes", "toolz"})


def iterate_logs(reader: LogReader, eth: Any) -> Generator[LogReceipt, None, None]:
    """Iterate over logs. Each window is read by a thread, which ends after its current request if the iteration is closed.

    Args:
        reader: The steps of the iteration.
        eth: The ``eth`` module of web3.py, or ``RawEth``.

    """
    # Only one thread runs steps at a time. The queries run outside the lock.
    lock = threading.Lock()
    closed = threading.Event()
    process = os.getpid()
    threads: dict[LogWindow, threading.Thread] = {}
    waiting: dict[LogWindow, QuerySteps[None]] = {}

    def start_windows() -> None:
        for window, steps in [] if closed.is_set() else reader.start_windows():
            if reader.concurrency == 1:
                waiting[window] = steps
            else:
                # A daemon, so that the program can exit while a request is in flight.
                threads[window] = threading.Thread(target=run, args=(steps,), name="keyrail-logs", daemon=True)
                threads[window].start()

    def run(steps: QuerySteps[None]) -> None:
        query: Query | None = None
        result: Any = None
        while not closed.is_set():
            with lock:
                try:
                    query = steps.send(result)
                except StopIteration:
                    query = None
                start_windows()
            if query is None:
                return
            result = make(query)

    def make(query: Query) -> Any:
        try:
            return query.run(eth)
        except Exception as error:
            return _convert_error(query, error)

    steps = reader.steps()
    result: Any = None
    try:
        while True:
            if os.getpid() != process:
                # After a fork, the threads are in the parent, and one of them may hold the lock.
                raise invalid(
                    "This iteration over logs was started in the parent process. "
                    "Call logs() again in the child, and pass the cursor of this iteration as cursor=."
                )
            with lock:
                try:
                    step = steps.send(result)
                except StopIteration:
                    return
                start_windows()
            result = None
            if isinstance(step, Query):
                result = make(step)
            elif isinstance(step, Wait):
                if step.window in waiting:
                    run(waiting.pop(step.window))
                else:
                    threads.pop(step.window).join()
            else:
                yield step
    finally:
        closed.set()


async def iterate_async_logs(reader: LogReader, eth: Any) -> AsyncGenerator[LogReceipt, None]:
    """Iterate over logs. Each window is read by a task, which is cancelled if the iteration is closed.

    Args:
        reader: The steps of the iteration.
        eth: The ``eth`` module of an asynchronous web3.py, or ``RawEth``.

    """
    tasks: dict[LogWindow, asyncio.Task[None]] = {}

    def start_windows() -> None:
        for window, steps in reader.start_windows():
            tasks[window] = asyncio.ensure_future(run(steps))

    async def run(steps: QuerySteps[None]) -> None:
        result: Any = None
        while True:
            try:
                query = steps.send(result)
            except StopIteration:
                return
            finally:
                start_windows()
            result = await make(query)

    async def make(query: Query) -> Any:
        try:
            return await query.run(eth)
        except Exception as error:
            return _convert_error(query, error)

    steps = reader.steps()
    result: Any = None
    try:
        while True:
            try:
                step = steps.send(result)
            except StopIteration:
                return
            start_windows()
            result = None
            if isinstance(step, Query):
                result = await make(step)
            elif isinstance(step, Wait):
                await tasks.pop(step.window)
            else:
                yield step
    finally:
        # A task has the frames of a request in flight, and so the URL: no variable of this frame may refer to a task.
        while tasks:
            tasks.popitem()[1].cancel()


def _convert_error(query: Query, error: Exception) -> Exception:
    """Remove the frames of a failure, and convert web3.py's exceptions for the result of a node to failures."""
    if isinstance(error, KeyrailError):
        return error.with_traceback(None)
    if isinstance(error, BlockNotFound):
        return create_error(
            f"The node does not have a block that this iteration needs: {error} Retry later.",
            kind="lagging",
            source="node",
            retryable=True,
            method="eth_getBlockByNumber",
            hint="Retry later.",
        )
    is_web3s_own = isinstance(error, (Web3Exception, ENSException))
    if isinstance(error, _INVALID_RESULT) and not is_web3s_own and _is_raised_by_web3(error):
        # Without the exception as its cause, because that contains what the node sent, and its frames contain the URL.
        return create_invalid_result_error(query.method)
    return error


def _is_raised_by_web3(error: Exception) -> bool:
    """Check whether web3.py raised an exception, itself or by a library that it uses, and not a middleware of the user."""
    packages: list[str] = [
        frame.f_globals.get("__name__", "").partition(".")[0] for frame, _ in walk_tb(error.__traceback__)
    ]
    return [one for one in packages if one not in _CONVERTERS][-1] == "web3"
