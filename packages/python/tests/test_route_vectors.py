"""The cases of packages/vectors for several endpoints."""

from __future__ import annotations

import json
from typing import Any

import pytest
from simulation import START_MS, Simulation, create_case_call
from vectors import read_vectors, to_params

from keyrail import Breaker, Failover, KeyrailError
from keyrail.message.response import Result
from keyrail.transport.breaker import CircuitBreaker
from keyrail.transport.call_settings import create_call_settings
from keyrail.transport.deadline import start_deadline
from keyrail.transport.endpoint_sender import EndpointSender
from keyrail.transport.retry import call_steps
from keyrail.transport.route import Route
from keyrail.transport.steps import Call, Outcome

NAMES = {
    "minBlock": "min_block",
    "attemptTimeoutMs": "attempt_timeout_ms",
    "acceptableWaitMs": "acceptable_wait_ms",
    "openMs": "open_ms",
    "deadMs": "dead_ms",
}


def to_snake_case(options: dict[str, Any]) -> dict[str, Any]:
    return {NAMES.get(name, name): value for name, value in options.items()}


def create_route(case: dict[str, Any]) -> Route:
    options = to_snake_case(case.get("options", {}))
    breaker = options.pop("breaker", len(case["endpoints"]) > 1)
    senders = []
    for at, endpoint in enumerate(case["endpoints"]):
        url = f"https://node-{at}.example/…"
        breaker_options = Breaker(**to_snake_case(breaker)) if isinstance(breaker, dict) else Breaker()
        circuit_breaker = CircuitBreaker(breaker_options, url) if breaker is not False else None
        senders.append(EndpointSender(url, create_call_settings(), at=at, breaker=circuit_breaker, **endpoint))
    return Route(senders, Failover(**options))


@pytest.mark.parametrize("case", to_params(read_vectors("routes.json")))
def test_route(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[list[Any]] = []
    given: dict[str, Any] = {}

    def respond(at: int, call: Call) -> dict[str, Any]:
        sent.append([at, call.method, json.loads(call.params)])
        nodes = given.get("nodes", [])
        response: dict[str, Any] = nodes[at] if at < len(nodes) else {}
        if "head" in response and call.method == "eth_blockNumber" != given["method"]:
            return {"result": response["head"]}
        return response

    simulation = Simulation(monkeypatch, respond)
    route = create_route(case)
    settings = create_call_settings(retry={"retries": case.get("retries", 0), "base_ms": 0})
    for given in case["calls"]:
        simulation.now_ms = max(simulation.now_ms, START_MS + given.get("atMs", 0))
        sent.clear()
        outcomes: list[Outcome] = []
        before = simulation.now_ms
        deadline = start_deadline(given.get("timeoutMs", 10_000))
        simulation.start(call_steps(create_case_call(given), route, settings, deadline), outcomes.append)
        simulation.run()
        (outcome,) = outcomes
        expected = given["expect"]
        assert [one[: len(wanted)] for one, wanted in zip(sent, given["sent"], strict=True)] == given["sent"]
        if "result" in expected:
            assert isinstance(outcome, Result), case["why"]
            assert outcome.value == expected["result"]
        else:
            assert isinstance(outcome, KeyrailError), case["why"]
            assert outcome.kind == expected["kind"]
            assert outcome.retryable == expected.get("retryable", outcome.retryable)
        for text in expected.get("messageHolds", []):
            assert text in str(outcome)
        if "afterMs" in expected:
            assert simulation.now_ms - before == pytest.approx(expected["afterMs"], abs=1)
