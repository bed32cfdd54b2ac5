"""Makes a call again where that may help and can do no harm: the failure says so by ``retryable``."""

from __future__ import annotations

import random

from ..failure.error import KeyrailError, altered
from ..message.answer import Result
from .options import Plan
from .steps import Attempt, Call, Outcome, Pause, Steps, now_ms


def wait_before(failure: KeyrailError, retried: int, plan: Plan) -> float:
    """Give the wait that the server asked for, or a random part of an exponentially growing time (full jitter), in milliseconds."""
    if failure.retry_after_ms is not None:
        return round(failure.retry_after_ms)
    most: float = min(plan.cap_ms, plan.base_ms * 2 ** min(retried, 60))
    return round(random.random() * most)  # noqa: S311 - spreads load, hides nothing


def may_retry(outcome: Outcome, retried: int, plan: Plan, until: float) -> bool:
    """Tell whether a call may be made again; not after its time is up."""
    return isinstance(outcome, KeyrailError) and outcome.retryable and retried < plan.retries and now_ms() < until


def too_late(failure: KeyrailError, wait: float, left: float) -> KeyrailError:
    """Say of a failure that the wait before a retry does not fit into the call's time."""
    return altered(
        failure, f"{failure} Not retried: it takes a wait of {wait:.0f} ms, and {max(0, left):.0f} ms are left."
    )


def call_steps(call: Call, plan: Plan, until: float, limit_ms: float, attempt_ms: float | None = None) -> Steps:
    """Carry one call to its outcome, with its retries.

    Args:
        call: The call.
        plan: How it travels.
        until: When it must have ended.
        limit_ms: How long that is in all.
        attempt_ms: How long one attempt may take. Default: what is left.

    """
    retried = 0
    while True:
        ends = until if attempt_ms is None else min(until, now_ms() + attempt_ms)
        told = yield Attempt((call,), ends, limit_ms)
        (outcome,) = told.outcomes
        if isinstance(outcome, Result) or not may_retry(outcome, retried, plan, until):
            return [outcome]
        wait = wait_before(outcome, retried, plan)
        left = until - now_ms()
        if wait >= left:
            return [too_late(outcome, wait, left)]
        yield Pause(wait)
        retried += 1
