"""Functions of the user that are called with the events of calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from ..failure.check import check, describe
from .events import AttemptEvent, CallEvent, FailureEvent, RequestEvent, RerouteEvent, ResponseEvent, RetryEvent


@dataclass(slots=True, frozen=True, kw_only=True)
class Hooks:
    """Functions that are called with the events of calls.

    Each call causes one ``on_request``, and then one ``on_response`` or one ``on_failure``.
    A hook runs in the thread or on the event loop of its call, which continues when the hook returns. If a hook raises an exception,
    it is dropped and counted as ``hook_errors`` in ``stats()``.

    Args:
        on_request: A call starts.
        on_attempt: An HTTP request for a call has succeeded or failed.
        on_retry: An attempt failed, and the provider will retry.
        on_reroute: An endpoint failed, and the call is sent to another one.
        on_response: A call got its result.
        on_failure: A call failed, after all its retries. Cancelled calls fail too.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if a hook is not a function, or asynchronous.

    Example:
        >>> hooks = Hooks(on_failure=lambda event: print(event.method, event.kind, event.duration_ms))
        >>> provider = KeyrailProvider("http://127.0.0.1:8545", hooks=hooks)

    """

    on_request: Callable[[RequestEvent], None] | None = None
    on_attempt: Callable[[AttemptEvent], None] | None = None
    on_retry: Callable[[RetryEvent], None] | None = None
    on_reroute: Callable[[RerouteEvent], None] | None = None
    on_response: Callable[[ResponseEvent], None] | None = None
    on_failure: Callable[[FailureEvent], None] | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            hook = getattr(self, field.name)
            check(hook is None or callable(hook), f"{field.name} must be a function, not {describe(hook)}.")
            check(
                not inspect.iscoroutinefunction(hook),
                f"{field.name} must not be an asynchronous function. Start a task in it: asyncio.create_task(…).",
            )


def create_hooks_listener(hooks: Hooks, on_error: Callable[[], None]) -> Callable[[CallEvent], None]:
    """Create a function that calls the hook of an event. ``on_error`` is called if the hook has raised an exception."""
    functions: dict[str, Any] = {field.name.removeprefix("on_"): getattr(hooks, field.name) for field in fields(hooks)}

    def notify(event: CallEvent) -> None:
        hook = functions[event.type]
        if hook is None:
            return
        try:
            hook(event)
        except Exception:
            on_error()

    return notify
