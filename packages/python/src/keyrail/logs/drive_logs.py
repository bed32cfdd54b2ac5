"""Takes the steps of an iteration over logs: asks web3.py, and reads several windows at the same time."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

from web3 import AsyncWeb3, Web3
from web3.exceptions import BlockNotFound
from web3.types import LogReceipt

from ..failure.check import invalid
from ..failure.error import KeyrailError, make_error
from .ask import Ask, Asking
from .log_reader import LogReader, Wait
from .log_windows import LogWindow

_Run = Callable[[Asking[None]], Any]


def drive_logs(reader: LogReader, w3: Web3) -> Generator[LogReceipt, None, None]:
    """Take the steps; windows are read by threads of their own, which end by themselves when the iteration is left."""
    # Steps are short and taken one at a time; what they ask is asked outside.
    lock = threading.Lock()
    over = threading.Event()
    process = os.getpid()
    begun: dict[LogWindow, threading.Thread] = {}
    waiting: dict[LogWindow, Asking[None]] = {}

    def begin() -> None:
        for window, walk in [] if over.is_set() else reader.startable():
            if reader.concurrency == 1:
                waiting[window] = walk
            else:
                # At the end of the program nobody waits for what nobody wants any more.
                begun[window] = threading.Thread(target=run, args=(walk,), name="keyrail-logs", daemon=True)
                begun[window].start()

    def run(walk: Asking[None]) -> None:
        asking: Ask | None = None
        sent: Any = None
        while not over.is_set():
            with lock:
                try:
                    asking = walk.send(sent)
                except StopIteration:
                    asking = None
                begin()
            if asking is None:
                return
            sent = asked(asking)

    def asked(asking: Ask) -> Any:
        try:
            return asking.of(w3.eth)
        except Exception as error:
            return _told(error)

    steps = reader.steps()
    sent: Any = None
    try:
        while True:
            if os.getpid() != process:
                # The threads that read ahead, and perhaps the lock, are in the parent of a fork.
                raise invalid(
                    "this iteration over logs was started in the parent process: "
                    "call logs() again in the child, with cursor= the cursor of this one"
                )
            with lock:
                try:
                    step = steps.send(sent)
                except StopIteration:
                    return
                begin()
            sent = None
            if isinstance(step, Ask):
                sent = asked(step)
            elif isinstance(step, Wait):
                if step.window in waiting:
                    run(waiting.pop(step.window))
                else:
                    begun.pop(step.window).join()
            else:
                yield step
    finally:
        over.set()


async def drive_async_logs(reader: LogReader, w3: AsyncWeb3[Any]) -> AsyncGenerator[LogReceipt, None]:
    """Take the steps; windows are read by tasks of their own, which are cancelled when the iteration is left."""
    begun: dict[LogWindow, asyncio.Task[None]] = {}

    def begin() -> None:
        for window, walk in reader.startable():
            begun[window] = asyncio.ensure_future(run(walk))

    async def run(walk: Asking[None]) -> None:
        sent: Any = None
        while True:
            try:
                asking = walk.send(sent)
            except StopIteration:
                return
            finally:
                begin()
            sent = await asked(asking)

    async def asked(asking: Ask) -> Any:
        try:
            return await asking.of(w3.eth)
        except Exception as error:
            return _told(error)

    steps = reader.steps()
    sent: Any = None
    try:
        while True:
            try:
                step = steps.send(sent)
            except StopIteration:
                return
            begin()
            sent = None
            if isinstance(step, Ask):
                sent = await asked(step)
            elif isinstance(step, Wait):
                await begun.pop(step.window)
            else:
                yield step
    finally:
        # A task holds the frames of a request under way, and with them the address: none may stay in a variable of this frame.
        while begun:
            begun.popitem()[1].cancel()


def _told(error: Exception) -> Exception:
    """Give a failure without its frames; and what web3.py makes of a block that is not there as one of ours."""
    if isinstance(error, KeyrailError):
        return error.with_traceback(None)
    if isinstance(error, BlockNotFound):
        return make_error(
            f"the node has not, or no longer, a block that was asked for: {error}",
            kind="lagging",
            source="node",
            retryable=True,
            method="eth_getBlockByNumber",
            hint="Ask again.",
        )
    return error
