"""Reads the answer to a batch with distrust."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ..failure.facts import Facts
from ..failure.json_text import json_text
from .answer import Answer, Result
from .parse_json import UnreadableJson, parse_json
from .read_answer import MISSING, read_answer, shown_id


def read_batch_answer(answer: Answer, first: int, count: int) -> list[Result | Facts] | Facts:
    """Pair the items with the calls by id alone: their order says nothing. Never raises.

    An id that comes twice is not believed, neither time; an id that was not given (a text, a fraction, another batch's) is
    nobody's. A call without an answer of its own fails, and the others keep theirs.

    Args:
        answer: What came back by HTTP.
        first: The id of the first call; the others have the ids that follow.
        count: How many calls were sent.

    Returns:
        What was read for each call, in the order of the calls; or the one failure of all of them.

    See JSON-RPC 2.0 section 6.

    """
    status = answer.status
    body: Any = None
    problem: str | None = None
    try:
        body = parse_json(answer.text)
    except UnreadableJson as error:
        problem = error.reason

    def as_one(read: Any, text: str) -> Facts:
        own = read.get("id") if isinstance(read, dict) else None
        own_number = _whole_number(own)
        if own is not None and own_number is None and status < 300:
            return unpaired(f"response id {shown_id(own)} does not match a request id of the batch", final=True)
        facts = read_answer(Answer(status, text, answer.headers), -1 if own_number is None else own_number, read)
        if isinstance(facts, Result):
            return unpaired("an answer that is none")
        return replace(facts, batch=True)

    def unpaired(text: str, final: bool = False) -> Facts:
        return Facts(
            kind="badResponse",
            status=status,
            text=text,
            final=final,
            retry_after=answer.headers.get("retry-after"),
            date=answer.headers.get("date"),
            batch=True,
        )

    lone = isinstance(body, dict) and "result" in body and body.get("error") is None
    entries: list[Any] | None = body if isinstance(body, list) else [body] if lone else None
    # A lone error speaks of the whole batch, whichever id it has: a server that takes no batch may repeat that of the first item.
    if entries is None or not status or 299 < status < 400:
        return as_one(body, problem if problem and status < 300 else answer.text)

    reads: list[Result | Facts | None] = [None] * count
    nameless: list[Any] = []
    # Ids that belong to none of the calls.
    others: list[Any] = []
    paired = 0
    for entry in entries:
        held: dict[str, Any] = entry if isinstance(entry, dict) else {}
        own = held.get("id")
        number = _whole_number(own)
        at = -1 if number is None else number - first
        if 0 <= at < count:
            if reads[at] is not None:
                reads[at] = unpaired(f"the batch has two responses with id {number}")
                continue
            paired += 1
            good = status < 300 and held.get("error") is None and "result" in held
            reads[at] = Result(held["result"]) if good else as_one(entry, "an error without words")
        elif own is None and held.get("error") is not None:
            nameless.append(entry)
        elif isinstance(entry, dict):
            others.append(held.get("id", MISSING))
    # For each call that nothing was paired with.
    missing: Facts | None = None
    if paired < count:
        # Errors without an id can only mean calls that have no answer; believed where it cannot be unclear which.
        rejection = as_one(nameless[0], "an error without words") if nameless else None
        if rejection and not paired:
            return rejection
        alike = len({json_text(entry) for entry in nameless}) == 1
        if (
            rejection
            and alike
            and (len(nameless) == count - paired or re.search(r"\bbatch", rejection.text, re.IGNORECASE))
        ):
            missing = rejection
    instead = f", but there is one with id {', '.join(map(shown_id, others[:3]))}" if others else ""
    # A server that has none of the ids does not send them back at all, and would not the next time.
    final = not paired and bool(others)
    return [
        read or missing or unpaired(f"no response in the batch has request id {first + at}{instead}", final)
        for at, read in enumerate(reads)
    ]


def _whole_number(own: Any) -> int | None:
    """Give an id as an int, also if it was written as 1.0; None for anything else."""
    if isinstance(own, bool) or not isinstance(own, (int, float)) or own != own // 1:
        return None
    return int(own)
