"""The deadline of a call."""

from __future__ import annotations

from dataclasses import dataclass

from .steps import now_ms


@dataclass(slots=True)
class Deadline:
    """When a call ends. It moves while the call waits in the queue of a budget, because that time does not count."""

    until: float
    """By ``now_ms``."""
    limit_ms: float
    """The time limit of the whole call, for messages."""

    def left_ms(self) -> float:
        """Return how much time is left, in milliseconds."""
        return self.until - now_ms()


def start_deadline(limit_ms: float) -> Deadline:
    """Start the time of a call."""
    return Deadline(now_ms() + limit_ms, limit_ms)
