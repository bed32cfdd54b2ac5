"""What a response may hold (items 15, 25 and 26 of the list of known faults): depth, numbers and ids."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from fault_server import FaultServer, Seen, Wire
from leak_walk import TESTS

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider, Settled
from keyrail.message.answer import Answer, Result
from keyrail.message.parse_json import MAX_DEPTH, UnreadableJson, parse_json
from keyrail.message.read_answer import read_answer

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])


def settle(kind: str, url: str, count: int = 1) -> list[Settled]:
    """Make so many calls in one request, without retries."""
    requests = [("eth_getBlockByNumber", [hex(at)]) for at in range(count)]
    if kind == "sync":
        with KeyrailProvider(url=url, retry=False) as provider:
            return provider.batch_settled(requests)

    async def run() -> list[Settled]:
        async with AsyncKeyrailProvider(url=url, retry=False) as provider:
            return await provider.batch_settled(requests)

    return asyncio.run(run())


def errors_of(kind: str, body: Callable[[Seen], str], count: int = 1) -> list[KeyrailError | None]:
    with FaultServer(lambda seen, wire: wire.answer(200, body(seen))) as server:
        return [one.error for one in settle(kind, server.url, count)]


def items(seen: Seen, results: list[str]) -> str:
    entries = [
        f'{{"jsonrpc":"2.0","id":{call["id"]},"result":{one}}}' for call, one in zip(seen.calls, results, strict=True)
    ]
    return entries[0] if len(entries) == 1 else f"[{','.join(entries)}]"


# -- 25: depth --

# Runs as a process of its own, because without the fix it dies.
DEEP = """
import asyncio, sys, threading
from fault_server import FaultServer
from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider

sys.setrecursionlimit(100_000)
DEEP = 90_000
BODIES = {
    "arrays": "[" * DEEP + "]" * DEEP,
    "objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "unclosed": "[" * DEEP,
    "a million": "[" * 1_000_000,
    "behind a string": '{"a":"' + "]" * DEEP + '","b":' + "[" * DEEP,
    "behind an escaped quote": '{"a":"\\\\\\\\\\\\"' + "]" * DEEP + '","b":' + "[" * DEEP,
    "result": '{"jsonrpc":"2.0","id":1,"result":' + "[" * DEEP + "]" * DEEP + "}",
    "error": '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":' + "[" * DEEP + "]" * DEEP + "}}",
    "error as deep as is parsed": '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":' + "[" * 2_400 + "]" * 2_400 + "}}",
    "batch of errors without ids": "["
    + ",".join(['{"jsonrpc":"2.0","id":null,"error":{"code":1,"data":' + '{"a":' * 2_400 + "1" + "}" * 2_402] * 2)
    + "]",
}
CALLS = [("eth_getLogs", [])] * 2

def sync(url):
    with KeyrailProvider(url=url, retry=False) as provider:
        try:
            provider.make_request("eth_getLogs", [])
        except KeyrailError as error:
            print(name, error.kind, error)
        print(name, [one.error.kind for one in provider.batch_settled(CALLS)])

async def run(url):
    async with AsyncKeyrailProvider(url=url, retry=False) as provider:
        try:
            await provider.make_request("eth_getLogs", [])
        except KeyrailError as error:
            print(name, error.kind, error)

threading.stack_size(512 * 1024)
for name, body in BODIES.items():
    for status in (200, 500):
        with FaultServer(lambda seen, wire: wire.answer(status, body)) as server:
            for target in (sync, lambda url: asyncio.run(run(url))):
                thread = threading.Thread(target=target, args=(server.url,))
                thread.start()
                thread.join()
print("alive")
"""


def test_a_deep_response_does_not_kill_the_interpreter_if_another_package_raised_the_recursion_limit() -> None:
    done = subprocess.run([sys.executable, "-c", DEEP], cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"exit {done.returncode}: {done.stdout[-400:]} {done.stderr[-2_000:]}"
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[-1] == "alive"
    assert len(lines) == 10 * 2 * 3 + 1
    assert lines[0].startswith("arrays badResponse eth_getLogs failed: badResponse, HTTP 200 at http://127.0.0.1:")
    assert f"the response nests deeper than {MAX_DEPTH} levels" in lines[0]


def nested_trace(calls: int) -> str:
    """A result of callTracer: each call holds the calls that it made."""
    call = '{"type":"CALL","from":"0x1","error":"a \\"quote\\" and ]]","calls":['
    return call * calls + '{"type":"STATICCALL"}' + "]}" * calls


@BOTH
def test_a_trace_of_the_deepest_call_stack_that_the_evm_allows_is_a_result(kind: str) -> None:
    with FaultServer(lambda seen, wire: wire.answer(200, items(seen, [nested_trace(1_024)]))) as server:
        (settled,) = settle(kind, server.url)
    call, count = settled.value, 0
    while call.get("calls"):
        assert call["error"] == 'a "quote" and ]]'
        (call,) = call["calls"]
        count += 1
    assert (count, call) == (1_024, {"type": "STATICCALL"})


def test_a_deep_trace_is_parsed_whatever_the_recursion_limit() -> None:
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(300)
        for calls in (1, 60, 200, 1_024):
            assert parse_json(nested_trace(calls))["type"] == "CALL"
    finally:
        sys.setrecursionlimit(limit)


@BOTH
@pytest.mark.parametrize("count", [1, 2])
def test_a_response_that_is_nested_too_deep_says_so(kind: str, count: int) -> None:
    deep = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    errors = errors_of(kind, lambda seen: items(seen, [deep] * count), count)
    for error in errors:
        assert error is not None
        assert error.kind == "badResponse"
        assert f"the response nests deeper than {MAX_DEPTH} levels" in str(error)


DEEP_PREFIX = '{"a":[' * 300
DEEP_SUFFIX = "]}" * 300


@pytest.mark.parametrize(
    "text",
    [
        ",",
        ":",
        "]",
        "[1",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1]]",
        "[1}",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        '{"a" 1}',
        "{1:2}",
        '{"a":1]',
        '"a',
        '["a]',
        '["\\x"]',
        "[01]",
        "[+1]",
        "[nul]",
        "[1]x",
        "[[1] [2]]",
        '{"a":1 "b":2}',
        "[:1]",
        "[NaN]",
        "[1e999]",
        '["\n"]',
        "[\u00a01]",
    ],
)
def test_what_is_no_json_is_rejected_at_any_depth(text: str) -> None:
    with pytest.raises(UnreadableJson):
        parse_json(text)
    with pytest.raises(UnreadableJson):
        parse_json(DEEP_PREFIX + text + DEEP_SUFFIX)


@pytest.mark.parametrize(
    "text", ["1", '"a\\"b\\\\"', "[]", "{}", '{"a":1,"b":[1.5,-2e3,null,true]}', " [ 1 ,\r\n\t{ } ] "]
)
def test_json_is_parsed_alike_at_any_depth(text: str) -> None:
    assert parse_json(text) == json.loads(text)
    value = parse_json(DEEP_PREFIX + text + DEEP_SUFFIX)
    for _ in range(300):
        (value,) = value["a"]
    assert value == json.loads(text)


# -- 26: numbers --

NO_NUMBERS = [
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "-1E+999",
    "[1,NaN]",
    '{"a":{"b":[1e400]}}',
    "1" + "0" * 400 + ".0",
]


@BOTH
@pytest.mark.parametrize("value", NO_NUMBERS, ids=range(len(NO_NUMBERS)))
def test_a_number_that_json_does_not_have_is_no_result(kind: str, value: str) -> None:
    (alone,) = errors_of(kind, lambda seen: items(seen, [value]))
    batch = errors_of(kind, lambda seen: items(seen, ["1", value, "2"]), 3)
    for error in [alone, *batch]:
        assert error is not None
        assert error.kind == "badResponse"
        assert "the response holds" in str(error)


@BOTH
def test_numbers_as_json_has_them_are_results(kind: str) -> None:
    value = "[0,-0,1.5,-2.25e-3,1E5,1e308,5e-324,1e-999,12345678901234567890123]"
    with FaultServer(lambda seen, wire: wire.answer(200, items(seen, [value]))) as server:
        (settled,) = settle(kind, server.url)
    assert settled.value == json.loads(value)


# -- 15: ids --


def failed(entry: Any) -> str:
    facts = read_answer(Answer(200, json.dumps(entry), {}), 7)
    assert not isinstance(facts, Result)
    assert (facts.kind, facts.final) == ("badResponse", True)
    return facts.text


OTHER_IDS: list[tuple[Any, str]] = [
    (1, "1"),
    (0, "0"),
    ("7", '"7"'),
    (7.5, "7.5"),
    (True, "true"),
    (False, "false"),
    ([7], "[7]"),
    ({"a": 1}, '{"a":1}'),
    ("x" * 30, "…"),
]


@pytest.mark.parametrize(("own", "shown"), OTHER_IDS, ids=range(len(OTHER_IDS)))
def test_a_response_with_another_id_names_both_ids(own: Any, shown: str) -> None:
    for end in ({"result": "0x1"}, {"error": {"code": -32000, "message": "busy"}}):
        assert failed({"jsonrpc": "2.0", "id": own, **end}) == f"response id {shown} does not match request id 7"


def test_a_result_with_the_id_null_is_rejected_and_an_error_is_believed() -> None:
    said = failed({"jsonrpc": "2.0", "id": None, "result": "0x1"})
    assert said == "response id null does not match request id 7"
    facts = read_answer(Answer(200, '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}', {}), 7)
    assert not isinstance(facts, Result)
    assert facts.text == "no JSON"


@pytest.mark.parametrize("value", ['"0x1"', "null", "[]"])
def test_a_result_without_an_id_is_that_of_the_only_request(value: str) -> None:
    read = read_answer(Answer(200, f'{{"jsonrpc":"2.0","result":{value}}}', {}), 7)
    assert read == Result(json.loads(value))


@pytest.mark.parametrize(
    "body",
    [
        {"result": "0x1"},
        {"status": "1", "message": "OK", "result": "0x1"},
        {"jsonrpc": "1.0", "result": "0x1"},
        [{"jsonrpc": "2.0", "result": "0x1"}],
        {"jsonrpc": 2.0, "result": None},
    ],
    ids=range(5),
)
def test_a_result_without_an_id_that_may_be_of_something_else_is_rejected(body: Any) -> None:
    assert failed(body) == "response has no id; request id is 7"


@BOTH
def test_a_wrong_id_is_not_asked_for_again(kind: str) -> None:
    def script(seen: Seen, wire: Wire) -> None:
        wire.answer(200, [{"jsonrpc": "2.0", "id": call["id"] + 50, "result": 1} for call in seen.calls])

    requests = [("eth_getCode", [hex(at)]) for at in range(3)]

    async def run(url: str) -> list[Settled]:
        async with AsyncKeyrailProvider(url=url) as provider:
            return await provider.batch_settled(requests)

    with FaultServer(script) as server, KeyrailProvider(url=server.url) as provider:
        settled = provider.batch_settled(requests) if kind == "sync" else asyncio.run(run(server.url))
        assert len(server.seen) == 1
    for at, one in enumerate(settled):
        assert one.error is not None
        assert (one.error.kind, one.error.retryable) == ("badResponse", False)
        said = f"no response in the batch has request id {at + 1}, but there is one with id 51, 52, 53"
        assert said in str(one.error)


@BOTH
def test_an_id_may_be_long_or_hold_the_key_and_is_not_shown_whole(kind: str) -> None:
    key = "kr_a" + "k3Y" * 13

    def script(seen: Seen, wire: Wire) -> None:
        wire.answer(200, {"jsonrpc": "2.0", "id": key[:20] if "0x1" in seen.path else key + "x" * 100_000, "result": 1})

    with FaultServer(script) as server:
        for path in ("/v2/", "/0x1/"):
            (settled,) = settle(kind, server.url + path + key)
            assert settled.error is not None
            assert "response id" in str(settled.error)
            assert "does not match request id 1" in str(settled.error)
            assert key[:8] not in str(settled.error)
            assert len(str(settled.error)) < 400


@BOTH
def test_a_batch_response_names_the_ids_that_are_missing_strange_or_twice(kind: str) -> None:
    def given(ids: list[Any]) -> list[str]:
        body = [{"jsonrpc": "2.0", "id": own, "result": "0x1"} for own in ids]
        return [str(error) for error in errors_of(kind, lambda _: json.dumps(body), 3)]

    missing = given([1, 3])
    assert "no response in the batch has request id 2. " in missing[1]
    assert missing[0] == missing[2] == "None"
    strange = given([1, 7, "2", None])
    assert 'no response in the batch has request id 3, but there is one with id 7, "2", null.' in strange[2]
    assert strange[0] == "None"
    assert all("no response in the batch has request id" in one for one in given([]))
    assert "the batch has two responses with id 2" in given([1, 2, 2, 3])[1]


def test_an_error_of_a_batch_may_have_its_id_written_as_a_float() -> None:
    def body(seen: Seen) -> str:
        error = {"code": -32000, "message": "execution reverted"}
        return json.dumps([{"jsonrpc": "2.0", "id": float(call["id"]), "error": error} for call in seen.calls])

    for failure in errors_of("sync", body, 2):
        assert failure is not None
        assert failure.kind == "revert"
