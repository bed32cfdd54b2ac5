"""Follows the chain over a WebSocket, by polling, or both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from ..failure.error import KeyrailError
from ..transport.steps import now_ms
from .chain_poller import ChainPoller, Events, Polled
from .chain_source import ChainSource
from .follow_socket import OpenSocket, follow_socket, is_cursor_too_old, is_unsupported
from .poll_schedule import PollSchedule
from .recent_chain import RecentChain
from .recovery import OnError, Recovery


@dataclass(slots=True, frozen=True)
class FollowOptions:
    """The parts of a subscription to blocks or logs."""

    chain: RecentChain
    source: ChainSource
    poller: ChainPoller
    schedule: PollSchedule
    open_socket: OpenSocket | None
    """Opens a WebSocket. None to poll only."""
    on_error: OnError | None


async def _poll(
    options: FollowOptions, is_over: Callable[[Polled], bool], max_wait_ms: Callable[[], float] = lambda: float("inf")
) -> Events:
    """Poll again and again, through retryable failures. No poll is sent while the consumer processes an event."""
    recovery = Recovery(options.schedule, options.on_error)
    polled = Polled()
    while True:
        try:
            async for event in options.poller.poll(polled):
                yield event
            recovery.succeeded()
            if is_over(polled):
                return
            wait_ms = polled.wait_ms
        except KeyrailError as failure:
            wait_ms = recovery.failed(failure)
        await asyncio.sleep(max(0, min(wait_ms, max_wait_ms())) / 1_000)


async def _poll_for(options: FollowOptions, ms: float) -> Events:
    """Poll for a time, in which there is no connection."""
    until = now_ms() + ms

    async for event in _poll(options, lambda _: now_ms() >= until, lambda: until - now_ms()):
        yield event


async def follow_chain(options: FollowOptions) -> Events:
    """Follow the chain for as long as the consumer takes events.

    A service of Keyrail sends them over a WebSocket, from where the chain ends. The rest is polled: blocks below the ones
    that it remembers, and the time in which there is no connection. Other servers are polled.
    """
    chain, schedule, open_socket = options.chain, options.schedule, options.open_socket
    if open_socket is not None:
        recovery = Recovery(schedule, options.on_error)
        # How often in a row the service had none of the cursor's blocks.
        gaps = 0

        def on_start() -> None:
            nonlocal gaps
            recovery.succeeded()
            gaps = 0

        # So that the subscription starts now, however long it takes to find out what the server can do.
        if chain.newest is None:
            async for event in _poll(options, lambda polled: polled.at_head):
                yield event
        while True:
            poll_ms = 0.0
            too_old = False
            try:
                # So that the connection is closed when this generator is.
                async with aclosing(follow_socket(open_socket, chain, options.source, on_start)) as events:
                    async for event in events:
                        yield event
            except KeyrailError as failure:
                if is_unsupported(failure):
                    break
                too_old = is_cursor_too_old(failure)
                if too_old:
                    gaps += 1
                    # The service may itself be behind.
                    poll_ms = schedule.after_failure(gaps, None) if gaps > 1 else 0
                else:
                    poll_ms = recovery.failed(failure)
            if poll_ms > 0:
                async for event in _poll_for(options, poll_ms):
                    yield event
            if too_old:
                async for event in _poll(options, lambda polled: polled.at_head):
                    yield event
    async for event in _poll(options, lambda _: False):
        yield event
