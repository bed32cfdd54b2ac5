"""The cases of packages/vectors that need no server."""

import json
import re
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from vectors import TOP, read_vectors, to_params

from keyrail import KeyrailError
from keyrail.endpoint.create_endpoint import ResolvedEndpoint, create_endpoint
from keyrail.failure.create_failure import create_failure
from keyrail.failure.facts import Facts
from keyrail.failure.hints import HINTS, add_hint
from keyrail.failure.is_read_method import is_read_method
from keyrail.failure.parse_retry_after import parse_retry_after
from keyrail.logs.parse_range_hint import parse_range_hint
from keyrail.message.read_response import read_response
from keyrail.message.response import HttpResponse, Result
from keyrail.methods import TABLE, to_namespace


def body_text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body)


def create_case_failure(case: dict[str, Any]) -> KeyrailError:
    request, given = case["request"], case["response"]
    response = HttpResponse(given["status"], body_text(given["body"]), given.get("headers", {}))
    facts = read_response(response, 1)
    assert not isinstance(facts, Result), case["why"]
    return create_failure(
        replace(facts, batch=request.get("batch", False)),
        method=request["method"],
        redacted_url="https://node.example/…",
    )


WORDINGS = read_vectors("wordings.json")
FIRST_HALF = [case for case in WORDINGS if case["half"] == "first"]
SECOND_HALF = [case for case in WORDINGS if case["half"] == "second"]


def test_failure_kinds_of_the_second_half() -> None:
    right = [case for case in SECOND_HALF if create_case_failure(case).kind == case["expect"]["kind"]]
    assert len(right) / len(SECOND_HALF) >= 0.95


def test_failure_kinds_of_held_out_wordings() -> None:
    cases = read_vectors("heldOut.json")
    right = [case for case in cases if create_case_failure(case).kind == case["expect"]["kind"]]
    assert len(right) / len(cases) >= 0.64


@pytest.mark.parametrize(("half", "kinds", "retryable"), [("first", 0.93, 0.96), ("second", 0.84, 0.97)])
def test_failure_kinds_of_fresh_wordings(half: str, kinds: float, retryable: float) -> None:
    cases = [(case["expect"], create_case_failure(case)) for case in read_vectors("fresh.json") if case["half"] == half]
    assert sum(failure.kind == expected["kind"] for expected, failure in cases) / len(cases) >= kinds
    assert sum(failure.retryable == expected["retryable"] for expected, failure in cases) / len(cases) >= retryable


@pytest.mark.parametrize("case", to_params([*read_vectors("failures.json"), *FIRST_HALF]))
def test_failure(case: dict[str, Any]) -> None:
    expected = case["expect"]
    failure = create_case_failure(case)
    actual = {"kind": failure.kind, "source": failure.source, "retryable": failure.retryable}
    assert actual == {name: expected[name] for name in actual}, case["why"]
    assert failure.retry_after_ms == expected.get("retryAfterMs"), case["why"]
    for name, value in expected.get("rpcError", {}).items():
        assert (failure.rpc_error or {}).get(name) == value
    for part in expected.get("messageHolds", []):
        assert part in str(failure)
    for part in expected.get("messageLacks", []):
        assert part not in str(failure)


@pytest.mark.parametrize("case", to_params(read_vectors("retryAfter.json")))
def test_retry_after(case: dict[str, Any]) -> None:
    given = case["given"]
    rpc_error = {"code": 0, "message": "", "data": given["data"]} if "data" in given else None
    facts = Facts(text=given["text"], retry_after=given.get("retryAfter"), date=given.get("date"), rpc_error=rpc_error)
    assert parse_retry_after(facts, case.get("now")) == case["expect"], case["why"]


def to_snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), name)


def resolve(case: dict[str, Any]) -> ResolvedEndpoint:
    options = {to_snake_case(name): value for name, value in case["options"].items()}
    resolving = create_endpoint(**options).resolve()
    with pytest.raises(StopIteration) as end:
        next(resolving)
    endpoint: ResolvedEndpoint = end.value.value
    return endpoint


# A provider takes a URL without a name, unlike in TypeScript.
ENDPOINTS = [case for case in read_vectors("addresses.json") if not isinstance(case["options"], str)]


@pytest.mark.parametrize("case", to_params(ENDPOINTS))
def test_endpoint(case: dict[str, Any]) -> None:
    expected = case["expect"]
    if "rejection" in expected:
        with pytest.raises(KeyrailError) as caught:
            resolve(case)
        assert caught.value.kind == "invalidRequest"
        # None is the default in Python, and has another message than in TypeScript.
        if None not in case["options"].values():
            assert to_snake_case(expected["rejection"]) in str(caught.value), case["why"]
        # No message repeats the key.
        assert "7Hq2mZ9xT4" not in str(caught.value)
        assert "secretsecret" not in str(caught.value)
        return
    endpoint = resolve(case)
    assert (endpoint.url, endpoint.redacted_url) == (expected["url"], expected["redactedUrl"]), case["why"]
    assert endpoint.headers == {"content-type": "application/json", **expected.get("headers", {})}


@pytest.mark.parametrize("case", to_params(read_vectors("rangeHints.json")))
def test_range_hint(case: dict[str, Any]) -> None:
    error = case["response"]["error"]
    hint = parse_range_hint(error["message"], error.get("data"))
    actual = {
        "maxBlocks": hint.max_blocks,
        "fromBlock": hint.from_block,
        "toBlock": hint.to_block,
        "tooManyAddresses": hint.too_many_addresses or None,
    }
    assert {name: value for name, value in actual.items() if value is not None} == case["expect"], case["why"]


@pytest.mark.parametrize("case", to_params(read_vectors("methods.json")))
def test_a_column_of_a_method(case: dict[str, Any]) -> None:
    row = {**TABLE.get(to_namespace(case["method"]), {}), **TABLE[case["method"]]}
    assert row.get(case["column"]) == case.get("expect"), case["why"]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("failure/classification.json", "core/src/failure"),
        ("testing/providers.json", "msw/src/faults"),
    ],
)
def test_the_shared_files_equal_those_of_typescript(here: str, there: str) -> None:
    copy = TOP / "python/src/keyrail" / here
    assert copy.read_bytes() == (TOP / there / copy.name).read_bytes()


@pytest.mark.parametrize("case", to_params(read_vectors("repeatable.json")))
def test_is_read_method(case: dict[str, Any]) -> None:
    assert is_read_method(case["method"]) is case["expect"]


GRID = read_vectors("codesAndWords.json")


@pytest.mark.parametrize("code", GRID["codes"])
def test_no_single_word_overrides_an_unambiguous_code(code: str) -> None:
    for word, method, sentence in product(GRID["words"], GRID["methods"], GRID["sentences"]):
        text = sentence.replace("WORD", word)
        facts = Facts(text=text, status=200, rpc_error={"code": int(code), "message": text})
        failure = create_failure(facts, method=method, redacted_url="https://node.example/…")
        assert (failure.kind, failure.retryable) == (GRID["codes"][code], False), f"{method}: {text}"


def test_the_failure_kinds_equal_those_of_core() -> None:
    from typing import get_args

    from keyrail import FailureKind

    source = (TOP / "core/src/failure/failureKind.ts").read_text("utf-8")
    assert list(get_args(FailureKind)) == re.findall(r"^  \| '(\w+)'", source, re.MULTILINE)


def test_the_hints_equal_those_of_core() -> None:
    source = (TOP / "core/src/transport/hints.ts").read_text("utf-8")
    of_core = {kind: to_snake_case(hint) for kind, hint in re.findall(r"^  (\w+): '(.+)',$", source, re.MULTILINE)}
    assert len(of_core) > 15
    # core has a budget, and its own function that decodes reverts.
    own_words = {
        "throttled": "Send fewer requests per second, or lower max_in_flight.",
        "revert": "Contract calls through web3.py decode it.",
    }
    assert {**of_core, **own_words} == HINTS


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (
            Facts(
                text="rate limit  exceeded. ",
                status=429,
                rpc_error={"code": -32005, "message": "rate limit exceeded"},
            ),
            "eth_call failed (throttled, HTTP 429, code -32005, https://node.example/…): rate limit exceeded. "
            "Send fewer requests per second, or lower max_in_flight.",
        ),
        (
            Facts(text="no response within 50 ms", kind="timeout"),
            "eth_call failed (timeout, https://node.example/…): no response within 50 ms. Request less, or raise timeout_ms.",
        ),
        (
            Facts(text="an error without a message", status=200, rpc_error={"code": "abc", "message": ""}),
            "eth_call failed (unknown, HTTP 200, code 0, https://node.example/…): an error without a message.",
        ),
    ],
)
def test_the_message_of_a_failure_has_the_form_of_core(facts: Facts, message: str) -> None:
    assert str(add_hint(create_failure(facts, method="eth_call", redacted_url="https://node.example/…"))) == message


def test_every_file_of_vectors_is_used() -> None:
    files = {path.name for path in (TOP / "vectors").glob("*.json")} - {"package.json", "tsconfig.json"}
    assert files == {
        "adapters.json",
        "addresses.json",
        "batches.json",
        "budgets.json",
        "caches.json",
        "codesAndWords.json",
        "failures.json",
        "fresh.json",
        "heldOut.json",
        "methods.json",
        "oddResponses.json",
        "rangeHints.json",
        "repeatable.json",
        "retryAfter.json",
        "routes.json",
        "wordings.json",
    }
