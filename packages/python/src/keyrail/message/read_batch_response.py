"""Reads the response to a batch without trusting the server."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ..failure.facts import Facts
from ..failure.to_json import to_json
from .parse_json import UnreadableJson, parse_json
from .read_response import MISSING, format_id, read_response, to_whole_number
from .response import HttpResponse, Result


def read_batch_response(response: HttpResponse, first: int, count: int) -> list[Result | Facts] | Facts:
    """Pair the entries of a batch response with the calls by id, in any order. Never raises.

    If two entries have the same id, the call fails. Entries with an unknown id (a string, a fraction, an id of another batch)
    are ignored. A call without an entry fails; the other calls succeed.

    Args:
        response: The HTTP response.
        first: The id of the first call; the other calls have the following ids.
        count: The number of calls.

    Returns:
        The result or failure of each call, in the order of the calls; or the failure of the whole batch.

    See JSON-RPC 2.0 section 6.

    """
    status = response.status
    body: Any = None
    problem: str | None = None
    try:
        body = parse_json(response.text)
    except UnreadableJson as error:
        problem = error.reason

    def read_failure(entry: Any, text: str) -> Facts:
        entry_id = entry.get("id") if isinstance(entry, dict) else None
        number = to_whole_number(entry_id)
        if entry_id is not None and number is None and status < 300:
            return unpaired(f"response id {format_id(entry_id)} does not match a request id of the batch", final=True)
        facts = read_response(HttpResponse(status, text, response.headers), -1 if number is None else number, entry)
        if isinstance(facts, Result):
            return unpaired("the response is not a batch response")
        return replace(facts, batch=True)

    def unpaired(text: str, final: bool = False) -> Facts:
        return Facts(
            kind="badResponse",
            status=status,
            text=text,
            final=final,
            retry_after=response.headers.get("retry-after"),
            date=response.headers.get("date"),
            batch=True,
        )

    single_result = isinstance(body, dict) and "result" in body and body.get("error") is None
    entries: list[Any] | None = body if isinstance(body, list) else [body] if single_result else None
    # A single error is about the whole batch, even if it has an id: a server without batches may repeat the id of the first call.
    if entries is None or not status or 299 < status < 400:
        return read_failure(body, problem if problem and status < 300 else response.text)

    reads: list[Result | Facts | None] = [None] * count
    without_id: list[Any] = []
    # Ids that match none of the calls.
    unknown_ids: list[Any] = []
    paired = 0
    for entry in entries:
        members: dict[str, Any] = entry if isinstance(entry, dict) else {}
        entry_id = members.get("id")
        number = to_whole_number(entry_id)
        at = -1 if number is None else number - first
        if 0 <= at < count:
            if reads[at] is not None:
                reads[at] = unpaired(f"the batch has two responses with id {number}")
                continue
            paired += 1
            succeeded = status < 300 and members.get("error") is None and "result" in members
            reads[at] = Result(members["result"]) if succeeded else read_failure(entry, "an error without a message")
        elif entry_id is None and members.get("error") is not None:
            without_id.append(entry)
        elif isinstance(entry, dict):
            unknown_ids.append(members.get("id", MISSING))
    # The failure of each call without an entry.
    missing: Facts | None = None
    if paired < count:
        # Errors without an id must be about calls without an entry. They are used when it is unambiguous which calls.
        rejection = read_failure(without_id[0], "an error without a message") if without_id else None
        if rejection and not paired:
            return rejection
        same = len({to_json(entry) for entry in without_id}) == 1
        if (
            rejection
            and same
            and (len(without_id) == count - paired or re.search(r"\bbatch", rejection.text, re.IGNORECASE))
        ):
            missing = rejection
    other_ids = f", but there is one with id {', '.join(map(format_id, unknown_ids[:3]))}" if unknown_ids else ""
    # A server that returns none of the ids would not return them on a retry either.
    final = not paired and bool(unknown_ids)
    return [
        read or missing or unpaired(f"no response in the batch has request id {first + at}{other_ids}", final)
        for at, read in enumerate(reads)
    ]
