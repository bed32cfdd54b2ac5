"""Reports HTTP requests to what observes their calls."""

from __future__ import annotations

from collections.abc import Sequence

from ..failure.error import KeyrailError
from .steps import Attempt, Outcome, now_ms


def report_sends(attempt: Attempt, redacted_url: str) -> float | None:
    """Report that the request is sent. Returns the time by ``now_ms``, or None if nothing observes the calls."""
    calls = attempt.calls
    if calls[0].observed is None:
        return None
    for call in calls:
        if call.observed is not None:
            call.observed.send(redacted_url, len(calls))
    return now_ms()


def report_outcomes(attempt: Attempt, redacted_url: str, outcomes: Sequence[Outcome], duration_ms: float) -> None:
    """Report that the request has ended, after ``duration_ms``."""
    for call, outcome in zip(attempt.calls, outcomes, strict=True):
        if call.observed is not None:
            kind = outcome.kind if isinstance(outcome, KeyrailError) else None
            call.observed.end_attempt(redacted_url, len(attempt.calls), duration_ms, kind)
