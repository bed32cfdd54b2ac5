"""Sends several calls in as few requests as possible, and returns the outcome of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..failure.error import KeyrailError
from ..failure.is_read_method import is_read_method
from .batch_cap import BatchCap
from .call_settings import CallSettings
from .call_timeout import get_timeout_ms
from .retry import call_steps, explain_no_retry, get_delay_ms, should_retry
from .steps import Attempt, Call, Outcome, Parallel, Pause, Steps, now_ms, observe_calls

# Failures of a whole batch that apply to each of its calls. Other failures may be the fault of one call.
_COMMON = frozenset(
    {
        "auth",
        "forbidden",
        "throttled",
        "quota",
        "wrongNetwork",
        "unavailable",
        "timeout",
        "network",
        "badResponse",
    }
)
# Around method and params: `{"jsonrpc":"2.0","id":9007199254740991,"method":"","params":},`.
_FRAME_BYTES = 64
_PAYLOAD_TOO_LARGE = 413


class BatchLimits:
    """How large a batch may be at one endpoint."""

    def __init__(self, settings: CallSettings) -> None:
        self.cap = BatchCap(settings.max_calls)
        self.max_bytes = settings.max_bytes


def _max_bytes_of(call: Call) -> int:
    """Return an upper bound of the size of a call in UTF-8."""
    return _FRAME_BYTES + len(call.method) + (len(call.params) if call.params.isascii() else 4 * len(call.params))


def batch_steps(
    calls: Sequence[Call], writes: Sequence[Steps | None], limits: BatchLimits, settings: CallSettings
) -> Steps:
    """Make several calls in batches.

    Responses are paired by id, and each call has its own outcome. Only failed calls are retried, if that is safe. If a batch is
    rejected, calls with a response keep it, and the others are sent again in smaller batches, down to single calls. Only reads are
    sent in batches, because after a broken batch it is unknown which calls were executed.

    Args:
        calls: The calls.
        writes: For each call, the steps that send it safely, or None.
        limits: How large a batch may be.
        settings: The settings of calls.

    """
    reads = [at for at, call in enumerate(calls) if writes[at] is None and is_read_method(call.method)]
    batched = set(reads)
    single = [at for at in range(len(calls)) if at not in batched]
    places: list[list[int]] = [[at] for at in single]
    steps: list[Steps] = []
    for at in single:
        limit_ms = get_timeout_ms(calls[at].method, settings.timeout_ms)
        steps.append(writes[at] or call_steps(calls[at], settings, now_ms() + limit_ms, limit_ms))
    for part in _divide(calls, reads, limits.cap.get(), limits):
        places.append(part)
        steps.append(_part_steps([calls[at] for at in part], limits, settings))
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


def _divide(calls: Sequence[Call], places: Sequence[int], max_calls: int, limits: BatchLimits) -> list[list[int]]:
    """Divide calls into parts that fit into one request each."""
    if len(places) > max_calls:
        limits.cap.split()
    parts: list[list[int]] = []
    total = 0
    for at in places:
        size = _max_bytes_of(calls[at])
        if not parts or len(parts[-1]) >= max_calls or total + size > limits.max_bytes:
            parts.append([])
            total = 0
        parts[-1].append(at)
        total += size
    return parts


def _part_steps(calls: Sequence[Call], limits: BatchLimits, settings: CallSettings) -> Steps:
    # The time limit starts here, because the part may have waited for other parts.
    limit_ms = max(get_timeout_ms(method, settings.timeout_ms) for method in {call.method for call in calls})
    until = now_ms() + limit_ms
    outcomes: list[Any] = [None] * len(calls)
    places = list(range(len(calls)))
    retried = 0
    while True:
        yield from _send_once(calls, places, outcomes, limits, until, limit_ms)
        failed: list[int] = []
        delay = 0.0
        left = until - now_ms()
        jitter: float | None = None
        for at in places:
            outcome: Outcome = outcomes[at]
            if not isinstance(outcome, KeyrailError) or not should_retry(outcome, retried, settings, until):
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


def _send_once(
    calls: Sequence[Call],
    places: Sequence[int],
    outcomes: list[Any],
    limits: BatchLimits,
    until: float,
    limit_ms: float,
) -> Any:
    """Send each call once, or more often if batches are rejected."""
    queue = _divide(calls, places, limits.cap.get(), limits)
    while queue:
        part = queue.pop(0)
        max_calls = limits.cap.get()
        if len(part) > max_calls:
            # The maximum was lowered after this part was queued.
            queue[:0] = _divide(calls, part, max_calls, limits)
            continue
        result = yield Attempt([calls[at] for at in part], until, limit_ms)
        rejected: list[int] = []
        next_size = len(part)
        unclear = False
        for item, at in enumerate(part):
            outcome = result.outcomes[item]
            if len(part) == 1 or not isinstance(outcome, KeyrailError):
                outcomes[at] = outcome
            elif outcome.kind == "batchTooLarge":
                rejected.append(at)
                named = result.limits[item]
                next_size = named if named is not None else max(1, len(part) >> 1)
                if result.blames_batch:
                    if named is not None:
                        limits.cap.set_limit(named)
                    elif len(rejected) == 1:
                        limits.cap.reject(len(part))
                elif outcome.status == _PAYLOAD_TOO_LARGE and len(rejected) == 1:
                    limits.max_bytes = min(limits.max_bytes, sum(_max_bytes_of(calls[one]) for one in part) // 2)
            elif result.whole and outcome.kind not in _COMMON:
                rejected.append(at)
                unclear = True
            else:
                outcomes[at] = outcome
        if not unclear:
            if rejected:
                queue[:0] = _divide(calls, rejected, min(next_size, limits.cap.get()), limits)
            continue
        # The calls are sent one by one to find the faulty one. If all succeed, the endpoint rejects batches.
        for at in rejected:
            result = yield Attempt((calls[at],), until, limit_ms)
            (outcomes[at],) = result.outcomes
        if not any(isinstance(outcomes[at], KeyrailError) for at in rejected):
            limits.cap.reject(len(part))
