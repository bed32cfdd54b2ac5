"""Options for some calls only."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import get_args

from ..failure.check import check, check_range, describe
from .call_settings import MAX_RETRIES, MAX_TIMEOUT_MS, CallSettings
from .steps import Priority

_MAX_SAFE_INTEGER = 2**53 - 1


@dataclass(slots=True, frozen=True, kw_only=True)
class CallOptions:
    """Options for some calls. None means the option of the provider."""

    timeout_ms: float | None = None
    retries: int | None = None
    min_block: int | bool | None = None
    priority: Priority | None = None

    def apply(self, settings: CallSettings) -> CallSettings:
        """Return the settings of the provider with these options."""
        return replace(
            settings,
            timeout_ms=settings.timeout_ms if self.timeout_ms is None else self.timeout_ms,
            retries=settings.retries if self.retries is None else self.retries,
        )


_current: ContextVar[CallOptions | None] = ContextVar("keyrail_call_options", default=None)


def get_call_options() -> CallOptions | None:
    """Return the options of the calls that start here; None for those of the provider."""
    return _current.get()


@contextmanager
def call_options(
    *,
    timeout_ms: float | None = None,
    retries: int | None = None,
    min_block: int | bool | None = None,
    priority: Priority | None = None,
) -> Generator[None, None, None]:
    """Change options for the calls in a ``with`` block, of all providers, in this thread or task and in tasks that it starts.

    Args:
        timeout_ms: The time limit of a call with all its retries, in milliseconds.
        retries: The maximum number of retries of a call.
        min_block: The lowest block that results may be from, or True for the highest block that the provider has seen. Only for a
            provider with ``endpoints``.
        priority: The place in the queue of a budget: ``"write"`` before ``"read"`` before ``"poll"``.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if an option is wrong.

    Example:
        >>> with call_options(timeout_ms=2_000, retries=0):
        ...     balance = w3.eth.get_balance(address)

    """
    check_range("timeout_ms", timeout_ms, 1, MAX_TIMEOUT_MS)
    check_range("retries", retries, 0, MAX_RETRIES, whole=True)
    if not isinstance(min_block, bool):
        check_range("min_block", min_block, 0, _MAX_SAFE_INTEGER, whole=True)
    check(
        priority is None or priority in get_args(Priority),
        f'priority must be "write", "read" or "poll", not {describe(priority)}.',
    )
    given = CallOptions(timeout_ms=timeout_ms, retries=retries, min_block=min_block, priority=priority)
    outer = _current.get()
    if outer is not None:
        own = {field.name: getattr(given, field.name) for field in fields(given)}
        given = replace(outer, **{name: value for name, value in own.items() if value is not None})
    token = _current.set(given)
    try:
        yield
    finally:
        _current.reset(token)
