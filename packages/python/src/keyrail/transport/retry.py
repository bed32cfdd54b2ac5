"""Retries calls whose failure is ``retryable``, and once a read with an error that nobody knows."""

from __future__ import annotations

import random

from ..failure.error import KeyrailError, replace_fields
from ..failure.is_read_method import is_read_method
from ..message.response import Result
from .call_settings import CallSettings
from .deadline import Deadline
from .sender import Group, Sender
from .steps import Call, Pause, Steps


def get_delay_ms(failure: KeyrailError, retried: int, settings: CallSettings) -> float:
    """Return the delay that the server requested, or else a random part of an exponentially growing time (full jitter), in ms."""
    if failure.retry_after_ms is not None:
        return round(failure.retry_after_ms)
    limit: float = min(settings.cap_ms, settings.base_ms * 2 ** min(retried, 60))
    return round(random.random() * limit)  # noqa: S311 - spreads load, no cryptography


def should_retry(call: Call, failure: KeyrailError, retried: int, settings: CallSettings, deadline: Deadline) -> bool:
    """Check whether a failed call should be retried. It should not after its time limit."""
    # A service behind a load balancer may know more a moment later.
    is_unknown = retried == 0 and failure.kind == "unknown" and is_read_method(call.method)
    return (failure.retryable or is_unknown) and retried < settings.retries and deadline.left_ms() > 0


def explain_no_retry(failure: KeyrailError, delay: float, left: float) -> KeyrailError:
    """Add to the message of a failure that the delay before a retry is longer than the remaining time."""
    return replace_fields(
        failure, f"{failure} Not retried: the delay is {delay:.0f} ms, but only {max(0, left):.0f} ms are left."
    )


def call_steps(
    call: Call,
    sender: Sender,
    settings: CallSettings,
    deadline: Deadline,
    *,
    attempt_ms: float | None = None,
    group: Group | None = None,
) -> Steps:
    """Make one call with its retries.

    Args:
        call: The call.
        sender: Sends the call.
        settings: The settings of calls.
        deadline: Its deadline.
        attempt_ms: The time limit of one attempt. Default: the remaining time.
        group: The group that the call belongs to.

    """
    retried = 0
    while True:
        (outcome,) = yield from sender.send((call,), deadline, attempt_ms=attempt_ms, group=group)
        if isinstance(outcome, Result) or not should_retry(call, outcome, retried, settings, deadline):
            return [outcome]
        delay = get_delay_ms(outcome, retried, settings)
        left = deadline.left_ms()
        if delay >= left:
            return [explain_no_retry(outcome, delay, left)]
        if call.observed is not None:
            call.observed.retry(outcome.kind, delay)
        yield Pause(delay)
        retried += 1
