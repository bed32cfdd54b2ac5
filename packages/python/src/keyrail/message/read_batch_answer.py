"""Reads the answer to a batch with distrust."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from ..failure.facts import Facts
from .answer import Answer, Result
from .read_answer import MISSING, parsed, read_answer


def read_batch_answer(answer: Answer, first: int, count: int) -> list[Result | Facts] | Facts:
    """Pair the items with the calls by id alone: their order says nothing. Never raises.

    An id that comes twice is not believed, neither time; an id that was not given (a text, a fraction, another batch's) is
    nobody's. A call without an answer of its own fails, and the others keep theirs.

    Args:
        answer: What came back by HTTP.
        first: The id of the first call; the others have the ids that follow.
        count: How many calls were sent.

    Returns:
        What was read for each call, in the order of the calls; or the one failure of all of them, where no item could be paired.

    See JSON-RPC 2.0 section 6.

    """
    status = answer.status
    body = parsed(answer.text)

    def as_one(read: Any, text: str) -> Facts:
        own = read.get("id") if isinstance(read, dict) else None
        facts = read_answer(Answer(status, text, answer.headers), own if isinstance(own, int) else -1, read)
        if isinstance(facts, Result):
            return unpaired("an answer that is none")
        return replace(facts, batch=True)

    def unpaired(text: str) -> Facts:
        return Facts(
            kind="badResponse",
            status=status,
            text=text,
            retry_after=answer.headers.get("retry-after"),
            date=answer.headers.get("date"),
            batch=True,
        )

    lone = isinstance(body, dict) and "result" in body and body.get("error") is None
    entries: list[Any] | None = body if isinstance(body, list) else [body] if lone else None
    # A lone error speaks of the whole batch, whichever id it has: a server that takes no batch may repeat that of the first item.
    if entries is None or not status or 299 < status < 400:
        return as_one(None if body is MISSING else body, answer.text)

    reads: list[Result | Facts | None] = [None] * count
    nameless: list[Any] = []
    paired = 0
    for entry in entries:
        held: dict[str, Any] = entry if isinstance(entry, dict) else {}
        own = held.get("id")
        number = isinstance(own, (int, float)) and not isinstance(own, bool) and own == own // 1
        at = int(own) - first if number and own is not None else -1
        if 0 <= at < count:
            if reads[at] is not None:
                reads[at] = unpaired("the answer to the batch has the id of this call twice")
                continue
            paired += 1
            good = status < 300 and held.get("error") is None and "result" in held
            reads[at] = Result(held["result"]) if good else as_one(entry, "an error without words")
        elif own is None and held.get("error") is not None:
            nameless.append(entry)
    missing = unpaired("the answer to the batch has no item with the id of this call")
    if paired < count:
        # Errors without an id can only mean calls that have no answer; believed where it cannot be unclear which.
        refusal = as_one(nameless[0], "an error without words") if nameless else missing
        if not paired:
            return refusal
        alike = all(_written(entry) == _written(nameless[0]) for entry in nameless)
        if alike and (len(nameless) == count - paired or re.search(r"\bbatch", refusal.text, re.IGNORECASE)):
            missing = refusal
    return [read if read is not None else missing for read in reads]


def _written(entry: Any) -> str:
    try:
        return json.dumps(entry)
    except (ValueError, RecursionError):
        return ""
