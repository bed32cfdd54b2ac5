"""Sends several calls in as few requests as possible, and returns the outcome of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..failure.error import KeyrailError
from ..failure.is_read_method import is_read_method
from .batch_limits import divide
from .call_settings import CallSettings
from .call_timeout import get_timeout_ms
from .deadline import start_deadline
from .retry import call_steps, explain_no_retry, get_delay_ms, should_retry
from .sender import Group, Sender
from .steps import Call, Outcome, Parallel, Pause, Steps, observe_calls


def batch_steps(calls: Sequence[Call], writes: Sequence[Steps | None], sender: Sender, settings: CallSettings) -> Steps:
    """Make several calls in batches.

    Responses are paired by id, and each call has its own outcome. Only failed calls are retried, if that is safe. If a batch is
    rejected, calls with a response keep it, and the others are sent again in smaller batches, down to single calls. Only reads are
    sent in batches, because after a broken batch it is unknown which calls were executed.

    Args:
        calls: The calls.
        writes: For each call, the steps that send it safely, or None.
        sender: Sends the calls.
        settings: The settings of calls.

    """
    group = Group()
    reads = [at for at, call in enumerate(calls) if writes[at] is None and is_read_method(call.method)]
    batched = set(reads)
    single = [at for at in range(len(calls)) if at not in batched]
    places: list[list[int]] = [[at] for at in single]
    steps: list[Steps] = []
    for at in single:
        limit_ms = get_timeout_ms(calls[at].method, settings.timeout_ms)
        steps.append(writes[at] or call_steps(calls[at], sender, settings, start_deadline(limit_ms), group=group))
    for part in divide(calls, reads, sender.limits.cap.get(), sender.limits):
        places.append(part)
        steps.append(_part_steps([calls[at] for at in part], sender, settings, group))
    steps = [observe_calls([calls[at] for at in part], one) for part, one in zip(places, steps, strict=True)]
    outcomes: list[Any] = [None] * len(calls)
    if len(steps) == 1:
        results = [(yield from steps[0])]
    else:
        results = yield Parallel(steps)
    for part, result in zip(places, results, strict=True):
        for at, outcome in zip(part, result, strict=True):
            outcomes[at] = outcome
    return outcomes


def _part_steps(calls: Sequence[Call], sender: Sender, settings: CallSettings, group: Group) -> Steps:
    # The time limit starts here, because the part may have waited for other parts.
    limit_ms = max(get_timeout_ms(method, settings.timeout_ms) for method in {call.method for call in calls})
    deadline = start_deadline(limit_ms)
    outcomes: list[Any] = [None] * len(calls)
    places = list(range(len(calls)))
    retried = 0
    while True:
        sent = yield from sender.send([calls[at] for at in places], deadline, group=group)
        for at, one in zip(places, sent, strict=True):
            outcomes[at] = one
        failed: list[int] = []
        delay = 0.0
        left = deadline.left_ms()
        jitter: float | None = None
        for at in places:
            outcome: Outcome = outcomes[at]
            if not isinstance(outcome, KeyrailError) or not should_retry(
                calls[at], outcome, retried, settings, deadline
            ):
                continue
            own_delay = (
                jitter
                if outcome.retry_after_ms is None and jitter is not None
                else get_delay_ms(outcome, retried, settings)
            )
            if outcome.retry_after_ms is None:
                jitter = own_delay
            if own_delay >= left:
                outcomes[at] = explain_no_retry(outcome, own_delay, left)
                continue
            delay = max(delay, own_delay)
            failed.append(at)
        if not failed:
            return outcomes
        for at in failed:
            observed = calls[at].observed
            if observed is not None:
                observed.retry(outcomes[at].kind, delay)
        yield Pause(delay)
        places = failed
        retried += 1
