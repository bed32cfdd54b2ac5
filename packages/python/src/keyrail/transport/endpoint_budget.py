"""The budget of an endpoint: a queue for the calls over the limit."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError
from ..failure.facts import Facts
from ..message.response import Result
from ..observe.endpoint_state import BudgetStats
from .budget import Budget
from .budget_pace import DAY_MS, Pace, Rejection
from .budget_queue import BudgetQueue, Waiter
from .deadline import Deadline
from .fork import watch_forks
from .steps import Call, Effect, Outcome, Steps, Wait, now_ms, wall_ms

# More days than a clock is ever set back by mistake.
_MAX_DAYS = 8
_DEFAULT_BURST_MS = 100


@dataclass(slots=True, frozen=True)
class _Sent:
    """Calls that were sent."""

    at: float
    day: int
    is_trial: bool


class EndpointBudget:
    """Limits how much is sent to an endpoint per second and per UTC day.

    The call that goes next waits for its time. Every other waits until it is the next.

    Args:
        options: The limits. With none, only rejections slow it down.
        redacted_url: The URL of the endpoint without its secrets.

    """

    def __init__(self, options: Budget, redacted_url: str) -> None:
        limit = options.requests_per_second or options.compute_units_per_second or float("inf")
        self._options = options
        self._redacted_url = redacted_url
        self._per_day = options.requests_per_day or options.compute_units_per_day or float("inf")
        burst_ms = _DEFAULT_BURST_MS if options.burst is None else options.burst / limit * 1_000
        self._max_units = limit * burst_ms / 1_000
        self._pace = Pace(limit, burst_ms)
        self._lock = threading.RLock()
        self._queue = BudgetQueue()
        self._used = 0.0
        # Each day has its own number, so a clock that is set forward and back again finds what was counted before.
        self._used_by_day: dict[int, float] = {}
        watch_forks(self)

    def get_wait_ms(self, call: Call) -> float:
        """Return how long a call would wait if it came now. An estimate, because other calls may leave or go first."""
        with self._lock:
            return self._get_wait_ms([call], self._get_cost([call]), now_ms())

    def count_fitting(self, calls: Sequence[Call]) -> int:
        """Return how many of the calls may be sent in one batch: no more than the burst, and no more than is left of the day."""
        left_today = self._per_day - self._get_used(_get_day()) if self._per_day < float("inf") else float("inf")
        count = 0
        while count < len(calls):
            some = calls[: count + 1]
            if count > 0 and (self._get_cost(some) > self._max_units or self._get_day_cost(some) > left_today):
                break
            count += 1
        return count

    def send(self, calls: Sequence[Call], deadline: Deadline, create_steps: Callable[[], Steps]) -> Steps:
        """Send calls in one request, as soon as the budget allows it.

        Args:
            calls: The calls.
            deadline: Their deadline. It moves by the time in the queue.
            create_steps: Creates the steps that send them.

        """
        admission = self._enter(calls, deadline)
        if isinstance(admission, Waiter):
            admission = yield from self._wait(admission)
        if not isinstance(admission, _Sent):
            return list(admission)
        outcomes: list[Outcome] = []
        try:
            outcomes = yield from create_steps()
            return outcomes
        finally:
            self._learn(calls, admission, outcomes)

    def get_stats(self) -> BudgetStats:
        """Return how much is used, and how much is left."""
        with self._lock:
            pause_ms, _ = self._pace.get_pause(now_ms())
            used_today = self._get_used(_get_day())
            rate = self._pace.rate
            return BudgetStats(
                unit="compute_units" if self._options.compute_units_per_second else "requests",
                rate=rate if rate < float("inf") else None,
                used=self._used,
                used_today=used_today,
                left_today=max(0, self._per_day - used_today) if self._per_day < float("inf") else None,
                queued=self._queue.count(),
                paused_until=(wall_ms() + pause_ms) / 1_000 if pause_ms else None,
            )

    def _after_fork(self) -> None:
        # The calls that wait, and the trial, belong to threads of the parent.
        self._lock = threading.RLock()
        self._queue = BudgetQueue()
        self._pace.forget(self._pace.is_trying, 0)

    def _enter(self, calls: Sequence[Call], deadline: Deadline) -> _Sent | Waiter | list[Outcome]:
        """Let calls go, put them into the queue, or reject them."""
        with self._lock:
            cost = self._get_cost(calls)
            time = now_ms()
            day_ms = self._get_day_wait_ms(calls)
            if not self._queue and not day_ms and not self._pace.is_trying and self._pace.wait_ms(cost, time) == 0:
                return self._send_now(calls, cost, time)
            waiter = Waiter(calls, cost, deadline, time)
            ms = self._get_wait_ms(calls, cost, time)
            if not self._fits(waiter, time, ms):
                pause_ms, kind = self._pace.get_pause(time)
                return self._reject(calls, "quota" if day_ms else kind if pause_ms else "throttled", ms)
            self._queue.enter(waiter)
            return waiter

    def _wait(self, waiter: Waiter) -> Generator[Effect, Any, _Sent | list[Outcome]]:
        """Wait until calls may go, or are rejected."""
        try:
            while True:
                with self._lock:
                    decision = self._decide(waiter)
                    if not isinstance(decision, float):
                        return decision
                    waiter.future = Future()
                    future = waiter.future
                yield Wait(future, decision)
        finally:
            with self._lock:
                self._queue.leave(waiter)
                waiter.deadline.until += now_ms() - waiter.since
                self._queue.wake_next()

    def _decide(self, waiter: Waiter) -> _Sent | list[Outcome] | float:
        """Let the calls go, reject them, or return how long they wait before they look again."""
        if waiter.rejection is not None:
            return self._reject(waiter.calls, *waiter.rejection)
        time = now_ms()
        day_ms = self._get_day_wait_ms(waiter.calls)
        ms = max(day_ms, self._pace.wait_ms(waiter.cost, time))
        left_ms = waiter.since + self._options.max_wait_ms - time
        if left_ms <= 0:
            return self._reject(waiter.calls, "throttled", ms)
        if not self._queue.is_next(waiter):
            return float(left_ms)
        if ms == 0 and not self._pace.is_trying:
            self._queue.count_turn(waiter)
            sent = self._send_now(waiter.calls, waiter.cost, time)
            for call in waiter.calls:
                if call.observed is not None:
                    call.observed.wait(self._redacted_url, time - waiter.since)
            return sent
        if day_ms > 0 and not self._fits(waiter, time, day_ms):
            return self._reject(waiter.calls, "quota", ms)
        return float(left_ms if self._pace.is_trying else min(math.ceil(ms), left_ms))

    def _send_now(self, calls: Sequence[Call], cost: float, time: float) -> _Sent:
        day = _get_day()
        self._used += cost
        self._add_used(day, self._get_day_cost(calls))
        return _Sent(time, day, self._pace.send(cost, time))

    def _learn(self, calls: Sequence[Call], sent: _Sent, outcomes: Sequence[Outcome]) -> None:
        """Learn from the outcomes of calls. There are none if they were cancelled or interrupted."""
        with self._lock:
            is_pausing = False
            if not outcomes:
                self._pace.forget(sent.is_trial, 0)
            elif all(_is_unsent(outcome) for outcome in outcomes):
                # The circuit breaker rejected them.
                cost = self._get_cost(calls)
                self._used -= cost
                self._add_used(sent.day, -self._get_day_cost(calls))
                self._pace.forget(sent.is_trial, cost)
            else:
                # One rejection says more than the results of the other calls of a batch, and one result more than other failures.
                relevant = [one for one in outcomes if _is_rejected(one)]
                relevant += [one for one in outcomes if isinstance(one, Result)]
                is_pausing = self._pace.hear(sent.at, sent.is_trial, relevant[0] if relevant else outcomes[0])
            if is_pausing:
                self._reject_too_late()
            if sent.is_trial or is_pausing:
                self._queue.wake_next()

    def _reject_too_late(self) -> None:
        """Reject the calls that cannot wait until the pause ends, so that they can go to another endpoint now."""
        time = now_ms()
        ms, kind = self._pace.get_pause(time)
        for waiter in self._queue.get_all():
            if waiter.rejection is None and not self._fits(waiter, time, ms):
                waiter.rejection = (kind, ms)
                waiter.wake()

    def _fits(self, waiter: Waiter, time: float, ms: float) -> bool:
        """Check whether a call may wait this long. A pause must end before the call's own deadline, which our queue does not use up."""
        pause_ms, _ = self._pace.get_pause(time)
        own_left_ms = waiter.deadline.until - waiter.since
        return time + ms <= waiter.since + self._options.max_wait_ms and pause_ms <= own_left_ms

    def _reject(self, calls: Sequence[Call], kind: Rejection, ms: float) -> list[Outcome]:
        facts = Facts(
            kind=kind,
            text=f"not sent: the budget allows no further request in the next {math.ceil(ms)} ms",
            retry_after=str(ms / 1_000),
            unsent=True,
            final=True,
        )
        return [create_failure(facts, method=call.method, redacted_url=self._redacted_url) for call in calls]

    def _get_wait_ms(self, calls: Sequence[Call], cost: float, time: float) -> float:
        ahead = self._queue.get_cost_ahead(calls[0])
        return max(0, self._get_day_wait_ms(calls), self._pace.wait_ms(cost, time, ahead))

    def _get_day_wait_ms(self, calls: Sequence[Call]) -> float:
        """Return how long until the limit of the day allows calls, in milliseconds."""
        if self._per_day == float("inf"):
            return 0
        is_over = self._get_used(_get_day()) + self._get_day_cost(calls) > self._per_day
        return DAY_MS - wall_ms() % DAY_MS if is_over else 0

    def _get_cost(self, calls: Sequence[Call]) -> float:
        return self._add_up(calls, bool(self._options.compute_units_per_second))

    def _get_day_cost(self, calls: Sequence[Call]) -> float:
        return self._add_up(calls, bool(self._options.compute_units_per_day))

    def _add_up(self, calls: Sequence[Call], in_units: bool) -> float:
        return sum(self._options.get_units(call.method) for call in calls) if in_units else len(calls)

    def _get_used(self, day: int) -> float:
        return self._used_by_day.get(day, 0)

    def _add_used(self, day: int, units: float) -> None:
        self._used_by_day[day] = self._get_used(day) + units
        if len(self._used_by_day) > _MAX_DAYS:
            del self._used_by_day[next(iter(self._used_by_day))]


def _get_day() -> int:
    return math.floor(wall_ms() / DAY_MS)


def _is_unsent(outcome: Outcome) -> bool:
    return (
        isinstance(outcome, KeyrailError)
        and outcome.source == "client"
        and outcome.kind in ("unavailable", "throttled")
    )


def _is_rejected(outcome: Outcome) -> bool:
    return not isinstance(outcome, Result) and outcome.source == "service" and outcome.kind in ("throttled", "quota")
