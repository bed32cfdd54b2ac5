"""The cases of packages/vectors for budgets."""

from __future__ import annotations

import json
from datetime import datetime
from functools import partial
from typing import Any

import pytest
from simulation import START_MS, Simulation
from vectors import read_vectors, to_params

from keyrail import Budget, KeyrailError
from keyrail.transport.call_settings import create_call_settings
from keyrail.transport.deadline import start_deadline
from keyrail.transport.endpoint_budget import EndpointBudget
from keyrail.transport.endpoint_sender import EndpointSender
from keyrail.transport.steps import Call, Outcome

NAMES = {
    "requestsPerSecond": "requests_per_second",
    "computeUnitsPerSecond": "compute_units_per_second",
    "requestsPerDay": "requests_per_day",
    "computeUnitsPerDay": "compute_units_per_day",
    "computeUnits": "compute_units",
    "maxWaitMs": "max_wait_ms",
}


@pytest.mark.parametrize("case", to_params(read_vectors("budgets.json")))
def test_budget(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, float] = {}
    outcomes: dict[str, Outcome] = {}

    def respond(_: int, call: Call) -> dict[str, Any]:
        sent[call.params] = simulation.now_ms - START_MS
        group, _ = json.loads(call.params)
        response: dict[str, Any] = case["calls"][group].get("response", {})
        return response

    date = case.get("date", "2026-01-01T12:00:00Z").replace("Z", "+00:00")
    simulation = Simulation(monkeypatch, respond, datetime.fromisoformat(date).timestamp() * 1_000)
    options = Budget(**{NAMES.get(name, name): value for name, value in case["options"].items()})
    url = "https://node.example/…"
    budget = EndpointBudget(options, url)
    sender = EndpointSender(url, create_call_settings(), budget=budget)

    def start(group: int, given: dict[str, Any]) -> None:
        for at in range(given.get("count", 1)):
            params = json.dumps([group, at])
            call = Call(given.get("method", "eth_getBalance"), params, priority=given.get("priority"))
            deadline = start_deadline(given.get("timeoutMs", 10_000))
            simulation.start(sender.send([call], deadline), partial(outcomes.__setitem__, params))

    for group, given in enumerate(case["calls"]):
        simulation.at(START_MS + given.get("atMs", 0), partial(start, group, given))
    simulation.run()
    for group, given in enumerate(case["calls"]):
        for at, expected in enumerate(given["expect"]):
            params = json.dumps([group, at])
            if isinstance(expected, str):
                assert params not in sent, case["why"]
                failure = outcomes[params]
                assert isinstance(failure, KeyrailError)
                assert (failure.kind, failure.source) == (expected, "client")
            else:
                assert sent[params] == pytest.approx(expected, abs=2), (group, at, case["why"])
    assert set(budget.get_stats().queued.values()) == {0}
