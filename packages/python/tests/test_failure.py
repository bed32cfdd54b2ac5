"""How failures are worded, and found in other exceptions."""

from __future__ import annotations

import pytest

from keyrail import KeyrailError, find_failure
from keyrail.failure.create_failure import create_failure
from keyrail.failure.facts import Facts


def _create(text: str) -> KeyrailError:
    return create_failure(Facts(text=text), method="eth_call", redacted_url="")


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("the method eth_cal does not exist: did you mean eth_call?", "did you mean eth_call?"),
        ("over rate limit... ", "over rate limit."),
    ],
)
def test_a_message_does_not_end_with_a_question_mark_and_a_period(text: str, end: str) -> None:
    assert str(_create(text)).endswith(end)


def test_the_failure_is_found_in_the_exception_that_a_program_raises() -> None:
    failure = _create("over rate limit")

    def explicit() -> None:
        try:
            raise failure
        except KeyrailError as error:
            raise RuntimeError("cannot update") from error

    def implicit() -> None:
        try:
            explicit()
        except RuntimeError:
            raise ValueError("no prices")  # noqa: B904

    for work in (explicit, implicit):
        with pytest.raises((RuntimeError, ValueError)) as caught:
            work()
        assert find_failure(caught.value) is failure
    assert find_failure(failure) is failure


def test_other_exceptions_have_no_failure_also_if_their_causes_form_a_circle() -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert find_failure(one) is None
    assert find_failure(None) is None
