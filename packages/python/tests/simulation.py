"""Runs the steps of calls with a scripted clock and without I/O."""

from __future__ import annotations

import heapq
import itertools
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from keyrail.failure.create_failure import create_failure
from keyrail.failure.facts import Facts
from keyrail.message.response import Result
from keyrail.transport.steps import Attempt, AttemptResult, Call, Outcome, Pause, Steps, Wait

START_MS = 10_000_000.0


class Simulation:
    """A clock, and calls that run on it concurrently. ``respond`` returns how an endpoint responds to a call: see ``VectorResponse``."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        respond: Callable[[int, Call], dict[str, Any]],
        date_ms: float = 0,
    ) -> None:
        self.now_ms = START_MS
        self._respond = respond
        self._order = itertools.count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        clock = SimpleNamespace(
            monotonic=lambda: self.now_ms / 1_000, time=lambda: (date_ms + self.now_ms - START_MS) / 1_000
        )
        monkeypatch.setattr("keyrail.transport.steps.time", clock)

    def at(self, time_ms: float, run: Callable[[], None]) -> None:
        """Call a function at a time of the clock."""
        heapq.heappush(self._events, (max(time_ms, self.now_ms), next(self._order), run))

    def start(self, steps: Steps, done: Callable[[Outcome], None]) -> None:
        """Start a call. ``done`` gets its outcome."""

        def resume(value: Any) -> None:
            try:
                effect = steps.send(value)
            except StopIteration as end:
                (outcome,) = end.value
                done(outcome)
                return
            if isinstance(effect, Attempt):
                self._attempt(effect, resume)
            elif isinstance(effect, Pause):
                self.at(self.now_ms + effect.ms, lambda: resume(None))
            else:
                assert isinstance(effect, Wait)
                self._wait(effect, resume)

        resume(None)

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Run until all calls have completed or wait for nothing, or until a condition is true."""
        while self._events and not until():
            self.now_ms, _, run = heapq.heappop(self._events)
            run()

    def _wait(self, effect: Wait, resume: Callable[[Any], None]) -> None:
        is_over = False

        def end() -> None:
            nonlocal is_over
            if not is_over:
                is_over = True
                resume(None)

        self.at(self.now_ms + effect.ms, end)
        effect.future.add_done_callback(lambda _: self.at(self.now_ms, end))

    def _attempt(self, attempt: Attempt, resume: Callable[[Any], None]) -> None:
        (call,) = attempt.calls
        response = self._respond(attempt.at, call)
        url = f"https://node-{attempt.at}.example/…"
        ends = self.now_ms + response.get("afterMs", 1)
        if "never" in response or ends > attempt.until:
            ends = attempt.until
            limit_ms = attempt.own_limit_ms
            text = f"no response within the {limit_ms} ms of one attempt" if limit_ms else "no response"
            facts = Facts(kind="timeout", text=text)
        elif "facts" in response:
            given = response["facts"]
            names = {"rpcError": "rpc_error", "retryAfter": "retry_after"}
            facts = Facts(**{names.get(name, name): value for name, value in given.items()})
        else:
            result = AttemptResult([Result(response.get("result", "0x1"))])
            self.at(ends, lambda: resume(result))
            return
        failure = create_failure(facts, method=call.method, redacted_url=url)
        self.at(ends, lambda: resume(AttemptResult([failure])))


def create_case_call(given: dict[str, Any]) -> Call:
    """Create the call of a case."""
    return Call(given["method"], json.dumps(given.get("params", []), separators=(",", ":")))
