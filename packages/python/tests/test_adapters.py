"""The cases of adapters.json: what a server does to a user of the library, and what the user must see."""

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
from leak_walk import leaks_of, reachable_texts
from vectors import applying, read_vectors
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
CASES = applying(read_vectors("adapters.json")["cases"])
LIMIT_S = 15.0
Ended = tuple[str, Any]


class Reason(Exception):
    """Why the user went away."""


class Subject:
    """A way to reach the node. Each act gives how its calls ended: ``("right" | "wrong", value)`` or ``("error", error)``."""

    def __init__(self, face: str) -> None:
        self.face = face

    def checks(self, act: dict[str, Any], key: str) -> list[tuple[str, list[Any], Callable[[Any], bool]]]:
        """Method, params and what is right, of each call of an act."""

        def quantity(wanted: Any) -> Callable[[Any], bool]:
            def is_right(value: Any) -> bool:
                if isinstance(value, bool) or not isinstance(value, (str, int)):
                    return False
                with contextlib.suppress(ValueError):
                    return (int(value, 16) if isinstance(value, str) else value) == int(wanted, 16)
                return False

            return is_right

        accounts = NODE["accounts"]
        kind = act["act"]
        if kind in ("blockNumber", "abort"):
            return [("eth_blockNumber", [], quantity(act.get("is", NODE["blockNumber"])))]
        if kind == "balance":
            wanted = act.get("is", accounts[0]["balance"])
            return [("eth_getBalance", [accounts[0]["address"], "latest"], quantity(wanted))]
        if kind == "balances":
            return [
                ("eth_getBalance", [one["address"], "latest"], quantity(one["balance"]))
                for one in accounts[: act["count"]]
            ]
        if kind == "contractRead":
            contract = NODE["contract"]
            right = (contract["answer"], contract["owner"])
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
            written = json.loads(json.dumps(act["is"]).replace("$KEY", key))
            return [(act["method"], act["params"], lambda value: bool(value == written))]
        raise AssertionError(f"no such act: {kind}")


def revert_of(error: Any) -> str | None:
    """Give the bytes of a revert that an error shows; nothing where it shows none."""
    if isinstance(error, ContractLogicError):
        return str(getattr(error, "data", "") or "undecoded")
    return None


class SyncSubject(Subject):
    def run(self, case: dict[str, Any], server: AdapterServer, options: dict[str, Any], held: list[Any]) -> list[Ended]:
        ended: list[Ended] = []
        provider = KeyrailProvider(**options)
        w3 = Web3(provider)
        held += [provider, w3]

        def end(get: Callable[[], Any], is_right: Callable[[Any], bool]) -> Ended:
            try:
                value = get()
            except Exception as error:  # Judged by the case.
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
                asked = self.checks(act, options["api_key"])
                if act["act"] == "abort":
                    ended.append(self.aborted(server, lambda: library("eth_blockNumber", [])))
                elif act["act"] in ("balances", "together") and self.face == "batch":
                    with w3.batch_requests() as batch:
                        for _, params, _ in asked:
                            batch.add(w3.eth.get_balance(params[0]))
                        try:
                            values = batch.execute()
                        except Exception as error:  # Judged by the case.
                            ended += [("error", error)] * len(asked)
                        else:
                            assert len(values) == len(asked)
                            ended += [
                                ("right" if is_right(value) else "wrong", value)
                                for value, (_, _, is_right) in zip(values, asked, strict=True)
                            ]
                elif act["act"] in ("balances", "together"):
                    settled = provider.batch_settled([(method, params) for method, params, _ in asked])
                    ended += settled_ends(settled, asked)
                else:
                    call = library if self.face == "library" else raw
                    for method, params, is_right in asked:
                        ended.append(end(partial(call, method, params), is_right))
        return ended

    def aborted(self, server: AdapterServer, get: Callable[[], Any]) -> Ended:
        """A signal's handler raises in the midst of the call: the way in which Python ends what blocks."""
        reason = Reason("the user went away")

        def leave(*_: object) -> None:
            raise reason

        before = signal.signal(signal.SIGUSR1, leave)
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
    def run(self, case: dict[str, Any], server: AdapterServer, options: dict[str, Any], held: list[Any]) -> list[Ended]:
        return asyncio.run(self.run_in_loop(case, server, options, held))

    async def run_in_loop(
        self, case: dict[str, Any], server: AdapterServer, options: dict[str, Any], held: list[Any]
    ) -> list[Ended]:
        ended: list[Ended] = []
        provider = AsyncKeyrailProvider(**options)
        w3 = AsyncWeb3(provider)
        held += [provider, w3]

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

        async def end(method: str, params: list[Any], is_right: Callable[[Any], bool]) -> Ended:
            try:
                value = await (library if self.face == "library" else raw)(method, params)
            except Exception as error:  # Judged by the case.
                return ("error", error)
            return ("right" if is_right(value) else "wrong", value)

        async with provider:
            for act in case["do"]:
                asked = self.checks(act, options["api_key"])
                if act["act"] == "abort":
                    task = asyncio.ensure_future(library("eth_blockNumber", []))
                    while not server.first.is_set():
                        await asyncio.sleep(0.01)
                    await asyncio.sleep(0.1)
                    task.cancel("the user went away")
                    try:
                        ended.append(("wrong", await task))
                    except asyncio.CancelledError as error:
                        ended.append(("reason", error))
                elif act["act"] in ("balances", "together") and self.face == "batch":
                    async with w3.batch_requests() as batch:
                        for _, params, _ in asked:
                            batch.add(w3.eth.get_balance(params[0]))
                        try:
                            values = await batch.async_execute()
                        except Exception as error:  # Judged by the case.
                            ended += [("error", error)] * len(asked)
                        else:
                            assert len(values) == len(asked)
                            ended += [
                                ("right" if is_right(value) else "wrong", value)
                                for value, (_, _, is_right) in zip(values, asked, strict=True)
                            ]
                elif act["act"] in ("balances", "together"):
                    settled = await provider.batch_settled([(method, params) for method, params, _ in asked])
                    ended += settled_ends(settled, asked)
                else:
                    for one in asked:
                        ended.append(await end(*one))
        return ended


def settled_ends(settled: Any, asked: Any) -> list[Ended]:
    return [
        ("error", one.error) if not one.ok else ("right" if is_right(one.value) else "wrong", one.value)
        for one, (_, _, is_right) in zip(settled, asked, strict=True)
    ]


def judge_end(end: Ended, wanted: str) -> str | None:
    what, value = end
    if what == "reason":
        return None if wanted == "reason" else "ended by the reason"
    if what in ("right", "wrong"):
        if wanted in ("right", "settled"):
            return None if what == "right" else f"got a wrong value: {value!r}"
        return f"got a value: {value!r}"
    if wanted == "settled":
        return None
    shown = revert_of(value)
    if wanted == "failure":
        return "shown as a revert" if shown else None
    if wanted == "revert":
        data = NODE["contract"]["revert"]["data"]
        return None if isinstance(value, ContractCustomError) and shown == data else f"revert not decoded: {value!r}"
    return f"failed: {value!r}"


@contextlib.contextmanager
def records() -> Iterator[list[logging.LogRecord]]:
    """Hear all that is logged, by anyone, at every level."""
    heard: list[logging.LogRecord] = []

    class Hear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.append(record)

    root = logging.getLogger()
    handler = Hear(0)
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    try:
        yield heard
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def faces_of(case: dict[str, Any]) -> list[str]:
    faces = list(case.get("faces", ["library", "raw"]))
    if any(act["act"] == "balances" for act in case["do"]):
        faces.append("batch")
    return faces


PARAMS = [
    pytest.param(kind, face, case, id=f"{case['name']}-{face}-{kind.__name__}", marks=pytest.mark.vector)
    for case in CASES
    for face in faces_of(case)
    for kind in (SyncSubject, AsyncSubject)
]


@pytest.fixture
def short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the random delays before retries and the pauses between look-ups of a transaction a tenth as long."""
    monkeypatch.setattr("keyrail.transport.retry.random.random", lambda: 0.05)
    monkeypatch.setattr("keyrail.transport.safe_write.LOOK_MS", 200)


@pytest.mark.usefixtures("short_delays")
@pytest.mark.parametrize(("kind", "face", "case"), PARAMS)
def test_adapter(
    kind: type[SyncSubject] | type[AsyncSubject], face: str, case: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    key = f"kr_a{secrets.token_hex(20)}"
    given, wanted = case.get("given", {}), case["expect"]
    options: dict[str, Any] = {"api_key": key}
    if given.get("chainId", True):
        options["chain_id"] = int(NODE["chainId"], 16)
    if "timeoutMs" in given:
        options["timeout_ms"] = given["timeoutMs"]
    held: list[Any] = []
    with AdapterServer(case["answers"], key) as server, records() as heard:
        options["base_url"] = server.url
        started = time.monotonic()
        ended = kind(face).run(case, server, options, held)
        took_ms = (time.monotonic() - started) * 1_000
        if "quietMs" in wanted:
            asked = len(server.seen)
            time.sleep(wanted["quietMs"] / 1_000)
            assert len(server.seen) == asked, "goes on asking"
        ends = wanted["ends"]
        if isinstance(ends, str):
            ends = [ends] * len(ended)
        if face == "batch" and set(ends) != {"right"} and "error" in [what for what, _ in ended]:
            # web3.py raises for the whole batch what the first call failed with.
            ends = ["failure" if "failure" in ends else "settled"] * len(ended)
        problems = [judge_end(end, want) for end, want in zip(ended, ends, strict=True)]
        assert problems == [None] * len(ended), case["why"]
        errors = [value for what, value in ended if what == "error"]
        assert all(isinstance(error, (KeyrailError, ContractLogicError)) for error in errors)

        methods = server.methods
        requests = wanted.get("requests", {})
        assert requests.get("atLeast", 0) <= len(server.seen) <= requests.get("atMost", 10**9), methods
        if "methods" in wanted:
            assert methods == wanted["methods"]
        for method, count in wanted.get("counts", {}).items():
            assert methods.count(method) == count
        assert len({seen.connection for seen in server.seen}) <= wanted.get("connections", {}).get("atMost", 10**9)
        if wanted.get("elsewhere") == 0:
            assert server.other.seen == []
        if "alone" in wanted:
            assert not any(len(seen.methods) > 1 and wanted["alone"] in seen.methods for seen in server.seen)
        if "waitMs" in wanted:
            waited = (server.seen[1].at - server.seen[0].at) * 1_000
            assert wanted["waitMs"]["atLeast"] <= waited <= wanted["waitMs"]["atMost"]
        assert took_ms <= wanted.get("withinMs", 10**9)

        errors = [value for what, value in ended if what in ("error", "reason")]
        if "tells" in wanted:
            words = wanted["tells"]
            pattern = rf"\b{words}\b" if words.isdigit() else re.escape(words)
            for error in errors:
                assert any(re.search(pattern, text) for text in reachable_texts(error)), error
        printed = capfd.readouterr()
        # Whether the case asks for it or not.
        assert leaks_of(errors, key) == []
        assert leaks_of([printed.out, printed.err], key) == []
        results_show_it = "result that holds the key" in case["name"]
        if not results_show_it:
            assert leaks_of([record.__dict__ for record in heard], key) == []
            assert leaks_of([record.getMessage() for record in heard], key) == []
        # A client is large.
        if "client" in wanted.get("noKeyIn", []):
            assert leaks_of(held, key) == []
        if wanted.get("prints") is False:
            assert printed.out + printed.err == ""


def test_every_case_that_applies_is_run() -> None:
    assert len(CASES) >= 90
    assert {param.values[2]["name"] for param in PARAMS} == {case["name"] for case in CASES}  # type: ignore[index]
