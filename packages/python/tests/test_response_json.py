"""Responses with deep nesting, invalid numbers and wrong ids."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest
from leak_walk import TESTS

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider, Settled
from keyrail.failure.to_revert import to_revert
from keyrail.message.parse_json import MAX_DEPTH, UnreadableJson, parse_json
from keyrail.message.read_response import read_response
from keyrail.message.response import HttpResponse, Result

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])


def call_batch(kind: str, url: str, count: int = 1) -> list[Settled]:
    """Make this many calls in one request, without retries."""
    requests = [("eth_getBlockByNumber", [hex(at)]) for at in range(count)]
    if kind == "sync":
        with KeyrailProvider(url=url, retry=False) as provider:
            return provider.batch_settled(requests)

    async def run() -> list[Settled]:
        async with AsyncKeyrailProvider(url=url, retry=False) as provider:
            return await provider.batch_settled(requests)

    return asyncio.run(run())


def get_errors(kind: str, body: Callable[[ReceivedRequest], str], count: int = 1) -> list[KeyrailError | None]:
    with FaultServer(lambda request, connection: connection.respond(200, body(request))) as server:
        return [one.error for one in call_batch(kind, server.url, count)]


def items(request: ReceivedRequest, results: list[str]) -> str:
    entries = [
        f'{{"jsonrpc":"2.0","id":{call["id"]},"result":{one}}}'
        for call, one in zip(request.calls, results, strict=True)
    ]
    return entries[0] if len(entries) == 1 else f"[{','.join(entries)}]"


# -- Depth --

# Runs in its own process, because a failure of this test kills the process.
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
        with FaultServer(lambda request, connection: connection.respond(status, body)) as server:
            for target in (sync, lambda url: asyncio.run(run(url))):
                thread = threading.Thread(target=target, args=(server.url,))
                thread.start()
                thread.join()
print("alive")
"""


@pytest.mark.slow
def test_a_deep_response_does_not_crash_with_a_raised_recursion_limit() -> None:
    done = subprocess.run([sys.executable, "-c", DEEP], cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"exit {done.returncode}: {done.stdout[-400:]} {done.stderr[-2_000:]}"
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[-1] == "alive"
    assert len(lines) == 10 * 2 * 3 + 1
    assert lines[0].startswith("arrays badResponse eth_getLogs failed (badResponse, HTTP 200, http://127.0.0.1:")
    assert f"the response nests deeper than {MAX_DEPTH} levels" in lines[0]


def nested_trace(calls: int) -> str:
    """A result of callTracer: each call contains the calls that it made."""
    call = '{"type":"CALL","from":"0x1","error":"a \\"quote\\" and ]]","calls":['
    return call * calls + '{"type":"STATICCALL"}' + "]}" * calls


@BOTH
def test_a_trace_of_the_deepest_evm_call_stack_is_a_result(kind: str) -> None:
    with FaultServer(
        lambda request, connection: connection.respond(200, items(request, [nested_trace(1_024)]))
    ) as server:
        (settled,) = call_batch(kind, server.url)
    assert settled.ok
    call, count = settled.value, 0
    while call.get("calls"):
        assert call["error"] == 'a "quote" and ]]'
        (call,) = call["calls"]
        count += 1
    assert (count, call) == (1_024, {"type": "STATICCALL"})


def test_a_deep_trace_is_parsed_with_a_low_recursion_limit() -> None:
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(300)
        for calls in (1, 60, 200, 1_024):
            assert parse_json(nested_trace(calls))["type"] == "CALL"
    finally:
        sys.setrecursionlimit(limit)


@BOTH
@pytest.mark.parametrize("count", [1, 2])
def test_a_response_that_nests_too_deep_is_a_failure(kind: str, count: int) -> None:
    deep = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    errors = get_errors(kind, lambda request: items(request, [deep] * count), count)
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
def test_invalid_json_is_rejected_at_any_depth(text: str) -> None:
    with pytest.raises(UnreadableJson):
        parse_json(text)
    with pytest.raises(UnreadableJson):
        parse_json(DEEP_PREFIX + text + DEEP_SUFFIX)


@pytest.mark.parametrize(
    "text", ["1", '"a\\"b\\\\"', "[]", "{}", '{"a":1,"b":[1.5,-2e3,null,true]}', " [ 1 ,\r\n\t{ } ] "]
)
def test_valid_json_is_parsed_at_any_depth(text: str) -> None:
    assert parse_json(text) == json.loads(text)
    value = parse_json(DEEP_PREFIX + text + DEEP_SUFFIX)
    for _ in range(300):
        (value,) = value["a"]
    assert value == json.loads(text)


@pytest.mark.parametrize("escapes", [r"\"", r"\\", r"\\\"", r"\\\\\"", "\\\\" * 70_000])
def test_escapes_are_read_wherever_a_long_text_is_divided(escapes: str) -> None:
    # The depth of this text is 1. Read wrongly, the brackets would be outside of the string.
    for length in range(65_536 - 12, 65_536 + 2):
        text = f'["{"a" * (length - 2)}{escapes}{"[" * 3_000}"]'
        assert parse_json(text) == json.loads(text)


# -- Numbers --

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
def test_a_number_that_is_not_json_is_a_failure(kind: str, value: str) -> None:
    (alone,) = get_errors(kind, lambda request: items(request, [value]))
    batch = get_errors(kind, lambda request: items(request, ["1", value, "2"]), 3)
    for error in [alone, *batch]:
        assert error is not None
        assert error.kind == "badResponse"
        assert "the response contains" in str(error)


@BOTH
def test_json_numbers_are_results(kind: str) -> None:
    value = "[0,-0,1.5,-2.25e-3,1E5,1e308,5e-324,1e-999,12345678901234567890123]"
    with FaultServer(lambda request, connection: connection.respond(200, items(request, [value]))) as server:
        (settled,) = call_batch(kind, server.url)
    assert settled.value == json.loads(value)


# -- Ids --


def read_failure(entry: Any) -> str:
    facts = read_response(HttpResponse(200, json.dumps(entry), {}), 7)
    assert not isinstance(facts, Result)
    assert (facts.kind, facts.final) == ("badResponse", True)
    return facts.text


OTHER_IDS: list[tuple[Any, str]] = [
    (1, "1"),
    (0, "0"),
    ("seven", '"seven"'),
    ("07", '"07"'),
    (7.5, "7.5"),
    (True, "true"),
    (False, "false"),
    ([7], "[7]"),
    ({"a": 1}, '{"a":1}'),
    ("x" * 30, "…"),
]


@pytest.mark.parametrize(("response_id", "shown"), OTHER_IDS, ids=range(len(OTHER_IDS)))
def test_a_response_with_another_id_names_both_ids(response_id: Any, shown: str) -> None:
    for outcome in ({"result": "0x1"}, {"error": {"code": -32000, "message": "busy"}}):
        assert (
            read_failure({"jsonrpc": "2.0", "id": response_id, **outcome})
            == f"response id {shown} does not match request id 7"
        )


def test_with_the_id_null_a_result_is_rejected_and_an_error_is_accepted() -> None:
    text = read_failure({"jsonrpc": "2.0", "id": None, "result": "0x1"})
    assert text == "response id null does not match request id 7"
    facts = read_response(
        HttpResponse(200, '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}', {}), 7
    )
    assert not isinstance(facts, Result)
    assert facts.text == "no JSON"


@pytest.mark.parametrize("value", ['"0x1"', "null", "[]"])
def test_a_json_rpc_result_without_an_id_is_accepted(value: str) -> None:
    read = read_response(HttpResponse(200, f'{{"jsonrpc":"2.0","result":{value}}}', {}), 7)
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
def test_another_result_without_an_id_is_rejected(body: Any) -> None:
    assert read_failure(body) == "response has no id; request id is 7"


@BOTH
def test_a_wrong_id_is_not_retried(kind: str) -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        connection.respond(200, [{"jsonrpc": "2.0", "id": call["id"] + 50, "result": 1} for call in request.calls])

    requests = [("eth_getCode", [hex(at)]) for at in range(3)]

    async def run(url: str) -> list[Settled]:
        async with AsyncKeyrailProvider(url=url) as provider:
            return await provider.batch_settled(requests)

    with FaultServer(script) as server, KeyrailProvider(url=server.url) as provider:
        settled = provider.batch_settled(requests) if kind == "sync" else asyncio.run(run(server.url))
        assert len(server.requests) == 1
    for at, one in enumerate(settled):
        assert one.error is not None
        assert (one.error.kind, one.error.retryable) == ("badResponse", False)
        message = f"no response in the batch has request id {at + 1}, but there is one with id 51, 52, 53"
        assert message in str(one.error)


@BOTH
def test_a_long_id_and_an_id_with_the_key_are_not_shown(kind: str) -> None:
    key = "kr_a" + "k3Y" * 13

    def script(request: ReceivedRequest, connection: Connection) -> None:
        connection.respond(
            200, {"jsonrpc": "2.0", "id": key[:20] if "0x1" in request.path else key + "x" * 100_000, "result": 1}
        )

    with FaultServer(script) as server:
        for path in ("/v2/", "/0x1/"):
            (settled,) = call_batch(kind, server.url + path + key)
            assert settled.error is not None
            assert "response id" in str(settled.error)
            assert "does not match request id 1" in str(settled.error)
            assert key[:8] not in str(settled.error)
            assert len(str(settled.error)) < 400


@BOTH
def test_failures_name_missing_unknown_and_duplicate_ids_of_a_batch(kind: str) -> None:
    def call_with(ids: list[Any]) -> list[str]:
        body = [{"jsonrpc": "2.0", "id": one, "result": "0x1"} for one in ids]
        return [str(error) for error in get_errors(kind, lambda _: json.dumps(body), 3)]

    missing = call_with([1, 3])
    assert "no response in the batch has request id 2. " in missing[1]
    assert missing[0] == missing[2] == "None"
    unknown = call_with([1, 7, "two", None])
    assert 'no response in the batch has request id 3, but there is one with id 7, "two", null.' in unknown[2]
    assert unknown[0] == "None"
    assert all("no response in the batch has request id" in one for one in call_with([]))
    assert "the batch has two responses with id 2" in call_with([1, 2, 2, 3])[1]


def test_an_error_of_a_batch_may_have_a_float_as_id() -> None:
    def body(request: ReceivedRequest) -> str:
        error = {"code": -32000, "message": "execution reverted"}
        return json.dumps([{"jsonrpc": "2.0", "id": float(call["id"]), "error": error} for call in request.calls])

    for failure in get_errors("sync", body, 2):
        assert failure is not None
        assert failure.kind == "revert"


def test_a_long_message_about_a_revert_is_read_in_linear_time() -> None:
    # In quadratic time, this would take hours.
    text = "revert" * 1_000_000
    assert to_revert({"code": 3, "message": text}) == {"code": 3, "message": text}
    assert to_revert({"code": 3, "message": text + ": 0x08c379a0"})["data"] == "0x08c379a0"
