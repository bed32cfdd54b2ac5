"""Carries several calls in as few requests as may be, and tells of each how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..failure.error import KeyrailError
from ..failure.repeatable import repeatable
from .batch_cap import BatchCap
from .heavy import time_of
from .options import Plan
from .retry import call_steps, may_retry, too_late, wait_before
from .steps import Attempt, Call, Outcome, Pause, Steps, Together, now_ms

# Failures that mean every call of a refused batch alike. Any other may be the fault of one of them.
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


class BatchSize:
    """What is known of how large a batch may be at this address."""

    def __init__(self, plan: Plan) -> None:
        self.cap = BatchCap(plan.max_calls)
        self.max_bytes = plan.max_bytes


def _bytes_of(call: Call) -> int:
    """At least as many as it takes in UTF-8."""
    return _FRAME_BYTES + len(call.method) + (len(call.params) if call.params.isascii() else 4 * len(call.params))


def batch_steps(calls: Sequence[Call], writes: Sequence[Steps | None], size: BatchSize, plan: Plan) -> Steps:
    """Carry calls together.

    Answers are paired by id, and each call ends by itself. Failed ones that may be made again are sent again, and no others.
    Where a batch is refused, calls that were answered keep their answers and the others are sent again in smaller ones, down
    to single calls. What does more than read is never joined, because a batch that breaks leaves unknown what was done.

    Args:
        calls: The calls.
        writes: In the place of a call that must go its own way: that way.
        size: What is known of how large a batch may be.
        plan: How calls travel.

    """
    reads = [at for at, call in enumerate(calls) if writes[at] is None and repeatable(call.method)]
    joined = set(reads)
    alone = [at for at in range(len(calls)) if at not in joined]
    places: list[list[int]] = [[at] for at in alone]
    walks: list[Steps] = []
    for at in alone:
        limit_ms = time_of(calls[at].method, plan.timeout_ms)
        walks.append(writes[at] or call_steps(calls[at], plan, now_ms() + limit_ms, limit_ms))
    for part in _parts(calls, reads, size.cap.calls(), size):
        places.append(part)
        walks.append(_part_steps([calls[at] for at in part], size, plan))
    outcomes: list[Any] = [None] * len(calls)
    if len(walks) == 1:
        ends = [(yield from walks[0])]
    else:
        ends = yield Together(walks)
    for part, ended in zip(places, ends, strict=True):
        for at, outcome in zip(part, ended, strict=True):
            outcomes[at] = outcome
    return outcomes


def _parts(calls: Sequence[Call], places: Sequence[int], limit: int, size: BatchSize) -> list[list[int]]:
    if len(places) > limit:
        size.cap.exceeded()
    parts: list[list[int]] = []
    total = 0
    for at in places:
        more = _bytes_of(calls[at])
        if not parts or len(parts[-1]) >= limit or total + more > size.max_bytes:
            parts.append([])
            total = 0
        parts[-1].append(at)
        total += more
    return parts


def _part_steps(calls: Sequence[Call], size: BatchSize, plan: Plan) -> Steps:
    # The time runs from here: until now it stood in a queue of ours.
    limit_ms = max(time_of(method, plan.timeout_ms) for method in {call.method for call in calls})
    until = now_ms() + limit_ms
    outcomes: list[Any] = [None] * len(calls)
    places = list(range(len(calls)))
    retried = 0
    while True:
        yield from _round(calls, places, outcomes, size, until, limit_ms)
        again: list[int] = []
        wait = 0.0
        left = until - now_ms()
        jitter: float | None = None
        for at in places:
            outcome: Outcome = outcomes[at]
            if not isinstance(outcome, KeyrailError) or not may_retry(outcome, retried, plan, until):
                continue
            own = (
                jitter if outcome.retry_after_ms is None and jitter is not None else wait_before(outcome, retried, plan)
            )
            if outcome.retry_after_ms is None:
                jitter = own
            if own >= left:
                outcomes[at] = too_late(outcome, own, left)
                continue
            wait = max(wait, own)
            again.append(at)
        if not again:
            return outcomes
        yield Pause(wait)
        places = again
        retried += 1


def _round(
    calls: Sequence[Call], places: Sequence[int], outcomes: list[Any], size: BatchSize, until: float, limit_ms: float
) -> Any:
    """Ask each call once, or more often where batches are refused."""
    queue = _parts(calls, places, size.cap.calls(), size)
    while queue:
        part = queue.pop(0)
        most = size.cap.calls()
        if len(part) > most:
            # Smaller batches were asked for while this one waited.
            queue[:0] = _parts(calls, part, most, size)
            continue
        told = yield Attempt([calls[at] for at in part], until, limit_ms)
        refused: list[int] = []
        limit = len(part)
        unclear = False
        for item, at in enumerate(part):
            outcome = told.outcomes[item]
            if len(part) == 1 or not isinstance(outcome, KeyrailError):
                outcomes[at] = outcome
            elif outcome.kind == "batchTooLarge":
                refused.append(at)
                said = told.limits[item]
                limit = said if said is not None else max(1, len(part) >> 1)
                if told.blames_batch:
                    if said is not None:
                        size.cap.said(said)
                    elif len(refused) == 1:
                        size.cap.refused(len(part))
                elif outcome.status == _PAYLOAD_TOO_LARGE and len(refused) == 1:
                    size.max_bytes = min(size.max_bytes, sum(_bytes_of(calls[of]) for of in part) // 2)
            elif told.whole and outcome.kind not in _COMMON:
                refused.append(at)
                unclear = True
            else:
                outcomes[at] = outcome
        if not unclear:
            if refused:
                queue[:0] = _parts(calls, refused, min(limit, size.cap.calls()), size)
            continue
        # One by one it shows whose fault it was; if nobody's, it was the batch that was not wanted.
        for at in refused:
            told = yield Attempt((calls[at],), until, limit_ms)
            (outcomes[at],) = told.outcomes
        if not any(isinstance(outcomes[at], KeyrailError) for at in refused):
            size.cap.refused(len(part))
