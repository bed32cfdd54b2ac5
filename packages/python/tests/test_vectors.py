"""The cases of packages/vectors that are decided without a server."""

import json
import re
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from vectors import TOP, params_of, read_vectors

from keyrail import KeyrailError
from keyrail.address.open_address import OpenAddress, open_address
from keyrail.failure.create_failure import create_failure
from keyrail.failure.facts import Facts
from keyrail.failure.repeatable import repeatable
from keyrail.failure.retry_after import retry_after
from keyrail.logs.range_hint import range_hint
from keyrail.message.answer import Answer, Result
from keyrail.message.read_answer import read_answer


def body_text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body)


def failure_of(case: dict[str, Any]) -> KeyrailError:
    asked, given = case["request"], case["answer"]
    answer = Answer(given["status"], body_text(given["body"]), given.get("headers", {}))
    facts = read_answer(answer, 1)
    assert not isinstance(facts, Result), case["why"]
    return create_failure(
        replace(facts, batch=asked.get("batch", False)), method=asked["method"], label="https://node.example/…"
    )


WORDINGS = read_vectors("wordings.json")
FIRST_HALF = [case for case in WORDINGS if case["half"] == "first"]
SECOND_HALF = [case for case in WORDINGS if case["half"] == "second"]


def test_kinds_of_the_second_half() -> None:
    right = [case for case in SECOND_HALF if failure_of(case).kind == case["expect"]["kind"]]
    assert len(right) / len(SECOND_HALF) >= 0.95


@pytest.mark.parametrize("case", params_of([*read_vectors("failures.json"), *FIRST_HALF]))
def test_failure(case: dict[str, Any]) -> None:
    wanted = case["expect"]
    failure = failure_of(case)
    seen = {"kind": failure.kind, "source": failure.source, "retryable": failure.retryable}
    assert seen == {name: wanted[name] for name in seen}, case["why"]
    assert failure.retry_after_ms == wanted.get("retryAfterMs"), case["why"]
    for name, value in wanted.get("rpcError", {}).items():
        assert (failure.rpc_error or {}).get(name) == value
    for part in wanted.get("messageHolds", []):
        assert part in str(failure)
    for part in wanted.get("messageLacks", []):
        assert part not in str(failure)


@pytest.mark.parametrize("case", params_of(read_vectors("retryAfter.json")))
def test_retry_after(case: dict[str, Any]) -> None:
    given = case["given"]
    rpc_error = {"code": 0, "message": "", "data": given["data"]} if "data" in given else None
    facts = Facts(text=given["text"], retry_after=given.get("retryAfter"), date=given.get("date"), rpc_error=rpc_error)
    assert retry_after(facts, case.get("now")) == case["expect"], case["why"]


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), name)


def opened(case: dict[str, Any]) -> OpenAddress:
    if isinstance(case["options"], str):
        return open_address(case["options"]).open().send(None)  # type: ignore[no-any-return]
    options = {snake(name): value for name, value in case["options"].items()}
    opening = open_address(**options).open()
    with pytest.raises(StopIteration) as end:
        next(opening)
    address: OpenAddress = end.value.value
    return address


@pytest.mark.parametrize("case", params_of(read_vectors("addresses.json")))
def test_address(case: dict[str, Any]) -> None:
    wanted = case["expect"]
    if "refusal" in wanted:
        with pytest.raises(KeyrailError) as caught:
            opened(case)
        assert caught.value.kind == "invalidRequest"
        refusal = re.sub(r"\b(apiKey|baseUrl|rpcUrl|chainId)\b", lambda found: snake(found[1]), wanted["refusal"])
        # What is wrong with a URL is said in other words here: see test_addresses.py.
        about_url = re.match(r"(url|base_url|rpc_url) ", refusal)
        assert (about_url[0] if about_url else refusal) in str(caught.value), case["why"]
        # Whatever was wrong, the key is not repeated.
        assert "7Hq2mZ9xT4" not in str(caught.value)
        assert "secretsecret" not in str(caught.value)
        return
    address = opened(case)
    assert (address.url, address.label) == (wanted["url"], wanted["label"]), case["why"]
    assert address.headers == {"content-type": "application/json", **wanted.get("headers", {})}


@pytest.mark.parametrize("case", params_of(read_vectors("rangeHints.json")))
def test_range_hint(case: dict[str, Any]) -> None:
    error = case["answer"]["error"]
    hint = range_hint(error["message"], error.get("data"))
    seen = {
        "maxBlocks": hint.max_blocks,
        "fromBlock": hint.from_block,
        "toBlock": hint.to_block,
        "tooManyAddresses": hint.too_many_addresses or None,
    }
    assert {name: value for name, value in seen.items() if value is not None} == case["expect"], case["why"]


@pytest.mark.parametrize("name", ["classification.json", "readMethods.json"])
def test_the_shared_files_are_those_of_the_core(name: str) -> None:
    here = TOP / "python/src/keyrail/failure" / name
    assert here.read_bytes() == (TOP / "core/src/failure" / name).read_bytes()


@pytest.mark.parametrize("case", params_of(read_vectors("repeatable.json")))
def test_repeatable(case: dict[str, Any]) -> None:
    assert repeatable(case["method"]) is case["expect"]


GRID = read_vectors("codesAndWords.json")


@pytest.mark.parametrize("code", GRID["codes"])
def test_no_single_word_overrules_a_code_with_one_meaning(code: str) -> None:
    for word, method, sentence in product(GRID["words"], GRID["methods"], GRID["sentences"]):
        text = sentence.replace("WORD", word)
        facts = Facts(text=text, status=200, rpc_error={"code": int(code), "message": text})
        failure = create_failure(facts, method=method, label="https://node.example/…")
        assert (failure.kind, failure.retryable) == (GRID["codes"][code], False), f"{method}: {text}"


def test_the_kinds_are_those_of_the_core() -> None:
    from typing import get_args

    from keyrail import FailureKind

    source = (TOP / "core/src/failure/failureKind.ts").read_text("utf-8")
    assert list(get_args(FailureKind)) == re.findall(r"^  \| '(\w+)'", source, re.MULTILINE)


def test_no_file_of_vectors_is_left_out() -> None:
    files = {path.name for path in (TOP / "vectors").glob("*.json")} - {"package.json", "tsconfig.json"}
    assert files == {
        "adapters.json",
        "addresses.json",
        "batches.json",
        "codesAndWords.json",
        "failures.json",
        "rangeHints.json",
        "repeatable.json",
        "retryAfter.json",
        "wordings.json",
    }
