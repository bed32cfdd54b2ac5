"""The cases of adapters.json: how a server behaves, and what the user of the library must see."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from adapter_server import NODE, AdapterServer
from leak_walk import find_leaks, reachable_texts
from vectors import read_vectors, select_python
from web3 import AsyncWeb3, Web3
from web3.exceptions import ContractCustomError, ContractLogicError

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider

ABI = [
    {
        "type": "function",
        "name": "owner",
        "inputs": [],
        "outputs": [{"type": "address", "name": ""}],
        "stateMutability": "view",
    },
    {"type": "error", "name": "Unauthorized", "inputs": [{"type": "address", "name": "who"}]},
]
CASES = select_python(read_vectors("adapters.json")["cases"])
LIMIT_S = 15.0
Outcome = tuple[str, Any]


class Reason(Exception):
    """The reason for which the user aborted the call."""


class Subject:
    """A provider under test. Each act returns the outcomes of its calls: ``("right" | "wrong", value)`` or ``("error", error)``."""

    def __init__(self, interface: str) -> None:
        self.interface = interface

    def checks(self, act: dict[str, Any], key: str) -> list[tuple[str, list[Any], Callable[[Any], bool]]]:
        """Return the method, the parameters and a check of the result of each call of an act."""

        def quantity(expected: Any) -> Callable[[Any], bool]:
            def is_right(value: Any) -> bool:
                if isinstance(value, bool) or not isinstance(value, (str, int)):
                    return False
                with contextlib.suppress(ValueError):
                    return (int(value, 16) if isinstance(value, str) else value) == int(expected, 16)
                return False

            return is_right

        accounts = NODE["accounts"]
        kind = act["act"]
        if kind in ("blockNumber", "abort"):
            return [("eth_blockNumber", [], quantity(act.get("is", NODE["blockNumber"])))]
        if kind == "balance":
            balance = act.get("is", accounts[0]["balance"])
            return [("eth_getBalance", [accounts[0]["address"], "latest"], quantity(balance))]
        if kind == "balances":
            return [
                ("eth_getBalance", [one["address"], "latest"], quantity(one["balance"]))
                for one in accounts[: act["count"]]
            ]
        if kind == "contractRead":
            contract = NODE["contract"]
            right = (contract["response"], contract["owner"])
            call = {"to": contract["address"], "data": contract["call"]}
            return [("eth_call", [call, "latest"], lambda value: str(value).lower() in right)]
        if kind == "send":
            tx = NODE["transaction"]

            def is_hash(value: Any) -> bool:
                shown = value.to_0x_hex() if hasattr(value, "to_0x_hex") else value
                return bool(shown == tx["hash"])

            return [("eth_sendRawTransaction", [tx["raw"]], is_hash)]
        if kind == "together":
            return [one for inner in act["acts"] for one in self.checks(inner, key)]
        if kind == "request":
            result = json.loads(json.dumps(act["is"]).replace("$KEY", key))
            return [(act["method"], act["params"], lambda value: bool(value == result))]
        raise AssertionError(f"unknown act: {kind}")


def get_revert_data(error: Any) -> str | None:
    """Return the revert data of an error, or None."""
    if isinstance(error, ContractLogicError):
        return str(getattr(error, "data", "") or "undecoded")
    return None


class SyncSubject(Subject):
    def run(
        self, case: dict[str, Any], server: AdapterServer, options: dict[str, Any], reachable: list[Any]
    ) -> list[Outcome]:
        outcomes: list[Outcome] = []
        provider = KeyrailProvider(**options)
        w3 = Web3(provider)
        reachable += [provider, w3]

        def run_call(get: Callable[[], Any], is_right: Callable[[Any], bool]) -> Outcome:
            try:
                value = get()
            except Exception as error:  # The case decides whether it is right.
                return ("error", error)
            return ("right" if is_right(value) else "wrong", value)

        def library(method: str, params: list[Any]) -> Any:
            if method == "eth_blockNumber":
                return w3.eth.block_number
            if method == "eth_getBalance":
                return w3.eth.get_balance(params[0])
            if method == "eth_call":
                return w3.eth.contract(address=NODE["contract"]["address"], abi=ABI).functions.owner().call()
            if method == "eth_sendRawTransaction":
                return w3.eth.send_raw_transaction(params[0])
            return w3.manager.request_blocking(method, params)  # type: ignore[arg-type]

        def raw(method: str, params: list[Any]) -> Any:
            response = provider.make_request(method, params)  # type: ignore[arg-type]
            if "error" in response:
                raise ContractLogicError("reverted", data=response["error"])  # type: ignore[arg-type]
            return response["result"]

        with provider:
            for act in case["do"]:
                calls = self.checks(act, options["api_key"])
                if act["act"] == "abort":
                    outcomes.append(self.aborted(server, lambda: library("eth_blockNumber", [])))
                elif act["act"] in ("balances", "together") and self.interface == "batch":
                    with w3.batch_requests() as batch:
                        for _, params, _ in calls:
                            batch.add(w3.eth.get_balance(params[0]))
                        try:
                            values = batch.execute()
                        except Exception as error:  # The case decides whether it is right.
                            outcomes += [("error", error)] * len(calls)
                        else:
                            assert len(values) == len(calls)
                            outcomes += [
                                ("right" if is_right(value) else "wrong", value)
                                for value, (_, _, is_right) in zip(values, calls, strict=True)
                            ]
                elif act["act"] in ("balances", "together"):
                    settled = provider.batch_settled([(method, params) for method, params, _ in calls])
                    outcomes += to_outcomes(settled, calls)
                else:
                    call = library if self.interface == "library" else raw
                    for method, params, is_right in calls:
                        outcomes.append(run_call(partial(call, method, params), is_right))
        return outcomes

    def aborted(self, server: AdapterServer, get: Callable[[], Any]) -> Outcome:
        """Abort a call by an exception in a signal handler, which is how Python interrupts blocking code."""
        reason = Reason("the user aborted")

        def abort(*_: object) -> None:
            raise reason

        before = signal.signal(signal.SIGUSR1, abort)
        main = threading.main_thread().ident
        assert main is not None

        def kill() -> None:
            server.first.wait(LIMIT_S)
            time.sleep(0.1)
            signal.pthread_kill(main, signal.SIGUSR1)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            return ("wrong", get())
        except Exception as error:
            return ("reason" if error is reason else "error", error)
        finally:
            killer.join()
            signal.signal(signal.SIGUSR1, before)


class AsyncSubject(Subject):
    def run(
        self, case: dict[str, Any], server: AdapterServer, options: dict[str, Any], reachable: list[Any]
    ) -> list[Outcome]:
        return asyncio.run(self.run_in_loop(case, server, options, reachable))

    async def run_in_loop(
        self, case: dict[str, Any], server: AdapterServer, options: dict[str, Any], reachable: list[Any]
    ) -> list[Outcome]:
        outcomes: list[Outcome] = []
        provider = AsyncKeyrailProvider(**options)
        w3 = AsyncWeb3(provider)
        reachable += [provider, w3]

        async def library(method: str, params: list[Any]) -> Any:
            if method == "eth_blockNumber":
                return await w3.eth.block_number
            if method == "eth_getBalance":
                return await w3.eth.get_balance(params[0])
            if method == "eth_call":
                return await w3.eth.contract(address=NODE["contract"]["address"], abi=ABI).functions.owner().call()
            if method == "eth_sendRawTransaction":
                return await w3.eth.send_raw_transaction(params[0])
            return await w3.manager.coro_request(method, params)  # type: ignore[arg-type]

        async def raw(method: str, params: list[Any]) -> Any:
            response = await provider.make_request(method, params)  # type: ignore[arg-type]
            if "error" in response:
                raise ContractLogicError("reverted", data=response["error"])  # type: ignore[arg-type]
            return response["result"]

        async def run_call(method: str, params: list[Any], is_right: Callable[[Any], bool]) -> Outcome:
            try:
                value = await (library if self.interface == "library" else raw)(method, params)
            except Exception as error:  # The case decides whether it is right.
                return ("error", error)
            return ("right" if is_right(value) else "wrong", value)

        async with provider:
            for act in case["do"]:
                calls = self.checks(act, options["api_key"])
                if act["act"] == "abort":
                    task = asyncio.ensure_future(library("eth_blockNumber", []))
                    while not server.first.is_set():
                        await asyncio.sleep(0.01)
                    await asyncio.sleep(0.1)
                    task.cancel("the user aborted")
                    try:
                        outcomes.append(("wrong", await task))
                    except asyncio.CancelledError as error:
                        outcomes.append(("reason", error))
                elif act["act"] in ("balances", "together") and self.interface == "batch":
                    async with w3.batch_requests() as batch:
                        for _, params, _ in calls:
                            batch.add(w3.eth.get_balance(params[0]))
                        try:
                            values = await batch.async_execute()
                        except Exception as error:  # The case decides whether it is right.
                            outcomes += [("error", error)] * len(calls)
                        else:
                            assert len(values) == len(calls)
                            outcomes += [
                                ("right" if is_right(value) else "wrong", value)
                                for value, (_, _, is_right) in zip(values, calls, strict=True)
                            ]
                elif act["act"] in ("balances", "together"):
                    settled = await provider.batch_settled([(method, params) for method, params, _ in calls])
                    outcomes += to_outcomes(settled, calls)
                else:
                    for one in calls:
                        outcomes.append(await run_call(*one))
        return outcomes


def to_outcomes(settled: Any, calls: Any) -> list[Outcome]:
    return [
        ("error", one.error) if not one.ok else ("right" if is_right(one.value) else "wrong", one.value)
        for one, (_, _, is_right) in zip(settled, calls, strict=True)
    ]


def find_problem(outcome: Outcome, expected: str) -> str | None:
    what, value = outcome
    if what == "reason":
        return None if expected == "reason" else "aborted"
    if what in ("right", "wrong"):
        if expected in ("right", "completed"):
            return None if what == "right" else f"got a wrong value: {value!r}"
        return f"got a value: {value!r}"
    if expected == "completed":
        return None
    shown = get_revert_data(value)
    if expected == "failure":
        return "shown as a revert" if shown else None
    if expected == "revert":
        data = NODE["contract"]["revert"]["data"]
        return None if isinstance(value, ContractCustomError) and shown == data else f"revert not decoded: {value!r}"
    return f"failed: {value!r}"


@contextlib.contextmanager
def record_logs() -> Iterator[list[logging.LogRecord]]:
    """Record all log messages, of every logger and level."""
    logged: list[logging.LogRecord] = []

    class Recorder(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            logged.append(record)

    root = logging.getLogger()
    handler = Recorder(0)
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    try:
        yield logged
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def get_interfaces(case: dict[str, Any]) -> list[str]:
    interfaces = list(case.get("apis", ["library", "raw"]))
    if any(act["act"] == "balances" for act in case["do"]):
        interfaces.append("batch")
    return interfaces


PARAMS = [
    pytest.param(kind, interface, case, id=f"{case['name']}-{interface}-{kind.__name__}", marks=pytest.mark.vector)
    for case in CASES
    for interface in get_interfaces(case)
    for kind in (SyncSubject, AsyncSubject)
]


@pytest.fixture
def short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the random delays before retries and the pauses between look-ups of a transaction a tenth as long."""
    monkeypatch.setattr("keyrail.transport.retry.random.random", lambda: 0.05)
    monkeypatch.setattr("keyrail.transport.safe_write.LOOK_MS", 200)


@pytest.mark.usefixtures("short_delays")
@pytest.mark.parametrize(("kind", "interface", "case"), PARAMS)
def test_adapter(
    kind: type[SyncSubject] | type[AsyncSubject],
    interface: str,
    case: dict[str, Any],
    capfd: pytest.CaptureFixture[str],
) -> None:
    key = f"kr_a{secrets.token_hex(20)}"
    given, expected = case.get("given", {}), case["expect"]
    options: dict[str, Any] = {"api_key": key}
    if given.get("chainId", True):
        options["chain_id"] = int(NODE["chainId"], 16)
    if "timeoutMs" in given:
        options["timeout_ms"] = given["timeoutMs"]
    reachable: list[Any] = []
    with AdapterServer(case["responses"], key) as server, record_logs() as logged:
        options["base_url"] = server.url
        outcomes = kind(interface).run(case, server, options, reachable)
        if "quietMs" in expected:
            count = len(server.requests)
            time.sleep(expected["quietMs"] / 1_000)
            assert len(server.requests) == count, "sends more requests"
        expected_outcomes = expected["ends"]
        if isinstance(expected_outcomes, str):
            expected_outcomes = [expected_outcomes] * len(outcomes)
        if interface == "batch" and set(expected_outcomes) != {"right"} and "error" in [what for what, _ in outcomes]:
            # web3.py raises the first failure for the whole batch.
            expected_outcomes = ["failure" if "failure" in expected_outcomes else "completed"] * len(outcomes)
        problems = [find_problem(outcome, want) for outcome, want in zip(outcomes, expected_outcomes, strict=True)]
        assert problems == [None] * len(outcomes), case["why"]
        errors = [value for what, value in outcomes if what == "error"]
        assert all(isinstance(error, (KeyrailError, ContractLogicError)) for error in errors)

        methods = server.methods
        requests = expected.get("requests", {})
        assert requests.get("atLeast", 0) <= len(server.requests) <= requests.get("atMost", 10**9), methods
        if "methods" in expected:
            assert methods == expected["methods"]
        for method, count in expected.get("counts", {}).items():
            assert methods.count(method) == count
        assert len({request.connection for request in server.requests}) <= expected.get("connections", {}).get(
            "atMost", 10**9
        )
        if expected.get("redirectedRequests") == 0:
            assert server.other.requests == []
        if "alone" in expected:
            assert not any(
                len(request.methods) > 1 and expected["alone"] in request.methods for request in server.requests
            )
        if "waitMs" in expected:
            waited = (server.requests[1].at - server.requests[0].at) * 1_000
            # On a busy machine, everything may take longer.
            assert expected["waitMs"]["atLeast"] <= waited

        errors = [value for what, value in outcomes if what in ("error", "reason")]
        if "errorIncludes" in expected:
            shown = expected["errorIncludes"]
            pattern = rf"\b{shown}\b" if shown.isdigit() else re.escape(shown)
            for error in errors:
                assert any(re.search(pattern, text) for text in reachable_texts(error)), error
        printed = capfd.readouterr()
        # For every case, whether it says so or not.
        assert find_leaks(errors, key) == []
        assert find_leaks([printed.out, printed.err], key) == []
        result_has_key = "result that holds the key" in case["name"]
        if not result_has_key:
            assert find_leaks([record.__dict__ for record in logged], key) == []
            assert find_leaks([record.getMessage() for record in logged], key) == []
        # Only for some cases, because the search in a provider is slow.
        if "client" in expected.get("noKeyIn", []):
            assert find_leaks(reachable, key) == []
        if expected.get("prints") is False:
            assert printed.out + printed.err == ""


# The members that this file and adapter_server.py read. An unknown one would not be checked, and nobody would notice.
EXPECTED_MEMBERS = {
    "alone",
    "connections",
    "counts",
    "ends",
    "errorIncludes",
    "methods",
    "noKeyIn",
    "prints",
    "quietMs",
    "redirectedRequests",
    "requests",
    "waitMs",
    "withinMs",
}
RESPONSE_MEMBERS = {
    "accepted",
    "account",
    "batch",
    "body",
    "delayMs",
    "fault",
    "for",
    "headers",
    "items",
    "over",
    "status",
    "times",
}


def test_every_member_of_the_cases_is_checked() -> None:
    assert {name for case in CASES for name in case["expect"]} <= EXPECTED_MEMBERS
    assert {name for case in CASES for response in case["responses"] for name in response} <= RESPONSE_MEMBERS


def test_every_case_for_python_runs() -> None:
    assert len(CASES) >= 90
    assert {param.values[2]["name"] for param in PARAMS} == {case["name"] for case in CASES}  # type: ignore[index]
