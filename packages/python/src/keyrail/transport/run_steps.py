"""Runs the steps of calls: makes the attempts and waits."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import wait as wait_for_futures
from typing import TYPE_CHECKING, Any

from ..endpoint.create_endpoint import CheckedEndpoint, ResolvedEndpoint
from ..failure.check import invalid
from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError, replace_fields
from ..failure.facts import Facts
from ..failure.is_read_method import is_read_method
from ..observe.without_tracing import pause_tracing
from .async_http_client import create_async_http_client
from .call_settings import CallSettings
from .fork import start_over_in_child
from .http_client import create_http_client
from .http_request import encode_calls, fail_all, to_attempt_result
from .parsed_endpoint import ParsedEndpoint
from .report_attempt import report_outcomes, report_sends
from .steps import Attempt, AttemptResult, Effect, Outcome, Pause, Steps, Wait, now_ms

if TYPE_CHECKING:
    from .rpc_socket import RpcSocket

# Ids of a process that was not forked start at 1 and never get this high. Ids of a child stay below 2^53, the limit of JSON numbers.
_MIN_CHILD_ID = 2**32


class _Ids:
    """The request ids of a provider: a counter for single calls and a counter for batches, which start at 1."""

    def __init__(self) -> None:
        self._last = {False: 0, True: 0}

    def after_fork(self) -> None:
        """Start again at a random number, so that no other process uses the same ids."""
        start = _MIN_CHILD_ID + secrets.randbelow(_MIN_CHILD_ID * 2**19)
        self._last = {False: start, True: start}

    def take(self, count: int) -> int:
        first = self._last[count > 1] + 1
        self._last[count > 1] += count
        return first


def _remove_frames(error: BaseException) -> BaseException:
    """Remove the frames of an exception from outside, such as an interrupt or a cancellation, because they contain the URL."""
    error.__traceback__ = None
    error.__context__ = None
    return error


def create_runner(
    endpoints: Sequence[ParsedEndpoint], settings: CallSettings
) -> tuple[Callable[[Steps], list[Outcome]], Callable[[], None], Callable[[], None]]:
    """Create three functions: to run steps one after another, to close all connections, and to start over after a fork."""
    clients = [create_http_client(settings, one.connections) for one in endpoints]
    ids = _Ids()

    def make(attempt: Attempt) -> AttemptResult:
        endpoint = endpoints[attempt.at].endpoint
        post, _, _ = clients[attempt.at]
        try:
            resolving = endpoint.resolve()
            try:
                awaitable = next(resolving)
            except StopIteration as end:
                resolved: ResolvedEndpoint = end.value
            else:
                resolving.close()
                if asyncio.iscoroutine(awaitable):
                    # Python would warn that it was never awaited.
                    awaitable.close()
                raise invalid(
                    "The api_key, jwt or headers function returned an awaitable. "
                    "Use AsyncKeyrailProvider with asynchronous functions."
                )
        except KeyrailError as failure:
            return fail_all(_at_endpoint(failure, attempt, endpoint.redacted_url), attempt)
        first = ids.take(len(attempt.calls))
        may_repeat = all(is_read_method(call.method) for call in attempt.calls)
        sent_at = report_sends(attempt, resolved.redacted_url)
        resume_tracing = pause_tracing()
        try:
            response = post(resolved, encode_calls(attempt.calls, first), may_repeat, attempt.until)
        finally:
            if resume_tracing is not None:
                resume_tracing()
        result = to_attempt_result(response, attempt, first, resolved, endpoint.chain_id)
        if sent_at is not None:
            report_outcomes(attempt, resolved.redacted_url, result.outcomes, now_ms() - sent_at)
        return result

    def make_without_frames(attempt: Attempt) -> AttemptResult:
        escaping: BaseException
        try:
            return make(attempt)
        except BaseException as error:
            escaping = _remove_frames(error)
        raise escaping

    def perform(effect: Effect) -> Any:
        if isinstance(effect, Attempt):
            return make_without_frames(effect)
        if isinstance(effect, Pause):
            return time.sleep(effect.ms / 1_000)
        if isinstance(effect, Wait):
            return wait_for_futures([effect.future], max(0, effect.ms) / 1_000)
        return [run(one) for one in effect.steps]

    def run(steps: Steps) -> list[Outcome]:
        start_over_in_child()
        value: Any = None
        try:
            while True:
                try:
                    effect = steps.send(value)
                except StopIteration as end:
                    outcomes: list[Outcome] = end.value
                    return outcomes
                value = perform(effect)
        finally:
            # After an interrupt or a cancellation, the steps end here.
            steps.close()

    def close() -> None:
        start_over_in_child()
        for _, close_client, _ in clients:
            close_client()

    def after_fork() -> None:
        for _, _, forget_connections in clients:
            forget_connections()
        ids.after_fork()

    return run, close, after_fork


def create_async_runner(
    endpoints: Sequence[ParsedEndpoint], settings: CallSettings
) -> tuple[
    Callable[[Steps], Awaitable[list[Outcome]]],
    Callable[[], Awaitable[None]],
    Callable[[], None],
    Callable[[], Awaitable[RpcSocket | KeyrailError]],
]:
    """Create four functions: to run steps concurrently, to close all connections, to start over after a fork, and to open a WebSocket."""
    clients = [create_async_http_client(settings, one.connections) for one in endpoints]
    ids = _Ids()

    async def resolve(endpoint: CheckedEndpoint) -> ResolvedEndpoint:
        resolving = endpoint.resolve()
        value: Any = None
        try:
            awaitable = next(resolving)
            while True:
                failed: Exception | None = None
                try:
                    value = await awaitable
                except Exception as error:
                    failed = error
                awaitable = resolving.throw(failed) if failed else resolving.send(value)
        except StopIteration as end:
            resolved: ResolvedEndpoint = end.value
            return resolved

    async def make(attempt: Attempt) -> AttemptResult:
        endpoint = endpoints[attempt.at].endpoint
        post, _, _ = clients[attempt.at]
        try:
            resolved = await resolve(endpoint)
        except KeyrailError as failure:
            return fail_all(_at_endpoint(failure, attempt, endpoint.redacted_url), attempt)
        first = ids.take(len(attempt.calls))
        may_repeat = all(is_read_method(call.method) for call in attempt.calls)
        sent_at = report_sends(attempt, resolved.redacted_url)
        resume_tracing = pause_tracing()
        try:
            response = await post(resolved, encode_calls(attempt.calls, first), may_repeat, attempt.until)
        finally:
            if resume_tracing is not None:
                resume_tracing()
        result = to_attempt_result(response, attempt, first, resolved, endpoint.chain_id)
        if sent_at is not None:
            report_outcomes(attempt, resolved.redacted_url, result.outcomes, now_ms() - sent_at)
        return result

    async def make_without_frames(attempt: Attempt) -> AttemptResult:
        escaping: BaseException
        try:
            return await make(attempt)
        except BaseException as error:
            escaping = _remove_frames(error)
        raise escaping

    async def perform(effect: Effect) -> Any:
        if isinstance(effect, Attempt):
            return await make_without_frames(effect)
        if isinstance(effect, Pause):
            return await asyncio.sleep(effect.ms / 1_000)
        if isinstance(effect, Wait):
            # This does not cancel the future, which may be shared.
            return await asyncio.wait([asyncio.wrap_future(effect.future)], timeout=max(0, effect.ms) / 1_000)
        return await asyncio.gather(*(run(one) for one in effect.steps))

    async def run(steps: Steps) -> list[Outcome]:
        start_over_in_child()
        value: Any = None
        try:
            while True:
                try:
                    effect = steps.send(value)
                except StopIteration as end:
                    outcomes: list[Outcome] = end.value
                    return outcomes
                value = await perform(effect)
        finally:
            # After an interrupt or a cancellation, the steps end here.
            steps.close()

    async def close() -> None:
        start_over_in_child()
        for _, close_client, _ in clients:
            await close_client()

    def after_fork() -> None:
        for _, _, forget_connections in clients:
            forget_connections()
        ids.after_fork()

    first = endpoints[0]

    async def open_socket() -> RpcSocket | KeyrailError:
        # Imported late, because most programs open no WebSocket.
        from .rpc_socket import open_rpc_socket

        escaping: BaseException
        start_over_in_child()
        try:
            resolved = await resolve(first.endpoint)
            resume_tracing = pause_tracing()
            try:
                return await open_rpc_socket(resolved, first.connections, settings.max_response_bytes)
            finally:
                if resume_tracing is not None:
                    resume_tracing()
        except KeyrailError as failure:
            return failure.with_traceback(None)
        except BaseException as error:
            escaping = _remove_frames(error)
        raise escaping

    return run, close, after_fork, open_socket


def _at_endpoint(failure: KeyrailError, attempt: Attempt, redacted_url: str) -> KeyrailError:
    """Copy the failure of a key function with the method and the endpoint, without the frames that contain the key."""
    facts = Facts(kind="invalidRequest", text=str(failure))
    created = create_failure(facts, method=attempt.calls[0].method, redacted_url=redacted_url)
    return replace_fields(created, hint="Check the api_key, jwt and headers functions.")
