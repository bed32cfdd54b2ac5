"""Decides whether a subscription continues after a failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..failure.error import KeyrailError
from .poll_schedule import PollSchedule

OnError: TypeAlias = Callable[[KeyrailError], None]


class Recovery:
    """Counts failures in a row: each one doubles the delay before the next attempt, up to 30 s.

    Args:
        schedule: Returns the delay.
        on_error: Called with each failure after which the subscription continues.

    """

    def __init__(self, schedule: PollSchedule, on_error: OnError | None) -> None:
        self._schedule = schedule
        self._on_error = on_error
        self._failures = 0

    def succeeded(self) -> None:
        """Reset the delay."""
        self._failures = 0

    def failed(self, failure: KeyrailError) -> float:
        """Return the delay before the next attempt, in milliseconds.

        Raises:
            KeyrailError: The failure, if it is not retryable.

        """
        if not failure.retryable:
            raise failure
        self._failures += 1
        if self._on_error is not None:
            self._on_error(failure)
        return self._schedule.after_failure(self._failures, failure.retry_after_ms)
