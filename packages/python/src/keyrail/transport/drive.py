"""Takes the steps of a call: waits where they wait, and makes the attempts that they ask for."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any

from ..address.open_address import Address, OpenAddress
from ..failure.check import invalid
from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError
from ..failure.facts import Facts
from ..failure.repeatable import repeatable
from .async_pool import create_async_client
from .options import Plan
from .pool import create_pool_client
from .post import body_of, refused, told_of
from .steps import Attempt, Effect, Outcome, Pause, Steps, Told

# A process that was not forked counts from 1 and never gets so far. The ids of a child stay below 2^53, as JSON numbers should.
_FIRST_OF_CHILD = 2**32


class _Ids:
    """Ids of requests: one counter for single calls and one for batches, per provider. They start at 1."""

    def __init__(self) -> None:
        self._last = {False: 0, True: 0}

    def after_fork(self) -> None:
        """Start at a random number, so that no other process uses the same ids."""
        start = _FIRST_OF_CHILD + secrets.randbelow(_FIRST_OF_CHILD * 2**19)
        self._last = {False: start, True: start}

    def take(self, count: int) -> int:
        first = self._last[count > 1] + 1
        self._last[count > 1] += count
        return first


def _clean(error: BaseException) -> BaseException:
    """Take the frames off something that passes through from outside: an interrupt, an alarm, a cancellation. They hold the address."""
    error.__traceback__ = None
    error.__context__ = None
    return error


def create_drive(
    address: Address, plan: Plan
) -> tuple[Callable[[Steps], list[Outcome]], Callable[[], None], Callable[[], None]]:
    """Make three functions: one takes steps, one after another, one closes all connections, and one starts over after a fork."""
    post, close, forget_connections = create_pool_client(plan)
    ids = _Ids()

    def attempt(asked: Attempt) -> Told:
        try:
            opening = address.open()
            try:
                next(opening)
            except StopIteration as opened:
                to: OpenAddress = opened.value
            else:
                opening.close()
                return refused(invalid("api_key and jwt functions must give a text, not something to await"), asked)
        except KeyrailError as failure:
            return refused(_of(failure, asked, address.label), asked)
        first = ids.take(len(asked.calls))
        again = all(repeatable(call.method) for call in asked.calls)
        read = post(to, body_of(asked.calls, first), again, asked.until)
        return told_of(read, asked, first, to, address.chain_id)

    def guarded(asked: Attempt) -> Told:
        passing: BaseException
        try:
            return attempt(asked)
        except BaseException as error:
            passing = _clean(error)
        raise passing

    def perform(effect: Effect) -> Any:
        if isinstance(effect, Attempt):
            return guarded(effect)
        if isinstance(effect, Pause):
            return time.sleep(effect.ms / 1_000)
        return [run(walk) for walk in effect.walks]

    def run(steps: Steps) -> list[Outcome]:
        sent: Any = None
        while True:
            try:
                effect = steps.send(sent)
            except StopIteration as end:
                ended: list[Outcome] = end.value
                return ended
            sent = perform(effect)

    def after_fork() -> None:
        forget_connections()
        ids.after_fork()

    return run, close, after_fork


def create_async_drive(
    address: Address, plan: Plan
) -> tuple[Callable[[Steps], Awaitable[list[Outcome]]], Callable[[], Awaitable[None]], Callable[[], None]]:
    """Make three functions: one takes steps, several at a time, one closes all connections, and one starts over after a fork."""
    post, close, forget_connections = create_async_client(plan)
    ids = _Ids()

    async def opened() -> OpenAddress:
        opening = address.open()
        given: Any = None
        try:
            awaited = next(opening)
            while True:
                failed: Exception | None = None
                try:
                    given = await awaited
                except Exception as error:
                    failed = error
                awaited = opening.throw(failed) if failed else opening.send(given)
        except StopIteration as end:
            to: OpenAddress = end.value
            return to

    async def attempt(asked: Attempt) -> Told:
        try:
            to = await opened()
        except KeyrailError as failure:
            return refused(_of(failure, asked, address.label), asked)
        first = ids.take(len(asked.calls))
        again = all(repeatable(call.method) for call in asked.calls)
        read = await post(to, body_of(asked.calls, first), again, asked.until)
        return told_of(read, asked, first, to, address.chain_id)

    async def guarded(asked: Attempt) -> Told:
        passing: BaseException
        try:
            return await attempt(asked)
        except BaseException as error:
            passing = _clean(error)
        raise passing

    async def perform(effect: Effect) -> Any:
        if isinstance(effect, Attempt):
            return await guarded(effect)
        if isinstance(effect, Pause):
            return await asyncio.sleep(effect.ms / 1_000)
        return await asyncio.gather(*(run(walk) for walk in effect.walks))

    async def run(steps: Steps) -> list[Outcome]:
        sent: Any = None
        while True:
            try:
                effect = steps.send(sent)
            except StopIteration as end:
                ended: list[Outcome] = end.value
                return ended
            sent = await perform(effect)

    def after_fork() -> None:
        forget_connections()
        ids.after_fork()

    return run, close, after_fork


def _of(failure: KeyrailError, asked: Attempt, label: str) -> KeyrailError:
    """Say where it was, without the frames in which a key function was asked."""
    return create_failure(Facts(kind="invalidRequest", text=str(failure)), method=asked.calls[0].method, label=label)
