"""Reads the answer to one call with distrust."""

from __future__ import annotations

import math
from typing import Any

from ..failure.facts import Facts
from ..failure.json_text import json_text
from .answer import Answer, Result
from .parse_json import UnreadableJson, parse_json
from .plain_text import plain_text

MISSING: Any = object()
"""Stands for what is not there, where null is something."""

_MAX_ID_LENGTH = 24


def is_id(value: Any, wanted: int) -> bool:
    """Tell whether an id is this very number: not a text, and not true for 1."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == wanted


def read_answer(answer: Answer, call_id: int, body: Any = MISSING) -> Result | Facts:
    """Read it: it is either a JSON-RPC result for this very call, or the facts of a failure. Never raises.

    A result with another id is never accepted, and not asked for again: the server would do the same. A result without an id is
    accepted, because HTTP pairs it with its request, but only if it is marked as JSON-RPC 2.0: other APIs have a result, too.

    Args:
        answer: What came back by HTTP.
        call_id: The id of the call.
        body: What the text holds, where it has been parsed already.

    See JSON-RPC 2.0 section 5.

    """
    status = answer.status
    problem: str | None = None
    if body is MISSING:
        try:
            body = parse_json(answer.text)
        except UnreadableJson as unreadable:
            problem = unreadable.reason
    # Some nodes answer a call they could not read as if it had been a batch.
    unwrapped = isinstance(body, list) and len(body) == 1
    if unwrapped and not (isinstance(body[0], dict) and body[0].get("id") is not None):
        body = body[0]
    held: dict[str, Any] = body if isinstance(body, dict) else {}
    own, result, error = held.get("id", MISSING), held.get("result", MISSING), held.get("error")
    own_fits = is_id(own, call_id) or (own is MISSING and held.get("jsonrpc") == "2.0" and not unwrapped)
    has_result = result is not MISSING and error is None
    if status < 300 and has_result and own_fits:
        return Result(result)
    # The error of a request that could not be read has no id.
    if status < 300 and not own_fits and (has_result or (error is not None and own not in (None, MISSING))):
        text = f"response id {shown_id(own)} does not match request id {call_id}"
        if own is MISSING:
            text = f"response has no id; request id is {call_id}"
        return Facts(kind="badResponse", status=status, text=text, final=True)
    # Where a redirect leads is not told: it may hold the key.
    final = status < 200 or 299 < status < 400
    # An error status is about this call even if the id differs: the server may not have read the request.
    rejection: Any = None
    if not final and (result is MISSING or result is None):
        rejection = error if error is not None else held.get("message")
    words = rejection.get("message", rejection) if isinstance(rejection, dict) else rejection
    said = words if isinstance(words, str) else answer.text
    rpc_error: dict[str, Any] | None = None
    if isinstance(rejection, dict):
        rpc_error = {**rejection, "code": integer(rejection.get("code")), "message": said}
    elif isinstance(rejection, list):
        rpc_error = {"code": 0, "message": said, "data": rejection}
    if final:
        text = "the server redirects, which is not followed: it would send the key to another server"
    elif status < 300 and problem:
        text = problem
    else:
        text = plain_text(said) or "an empty body"
    return Facts(
        status=status,
        retry_after=answer.headers.get("retry-after"),
        date=answer.headers.get("date"),
        final=final,
        kind="badResponse" if final or (status < 300 and rejection is None) else None,
        text=text,
        rpc_error=rpc_error,
    )


def shown_id(own: Any) -> str:
    """Write the id of a response for an error message. A long one is not shown: a part of a secret would not be masked."""
    if own is MISSING:
        return "(none)"
    text = json_text(own)
    return text if text is not None and len(text) <= _MAX_ID_LENGTH else "…"


def integer(code: Any) -> int:
    """Make an integer of whatever a code was: a number in quotes, an object or nothing."""
    if isinstance(code, str):
        try:
            code = int(code, 16) if code.strip().lower().startswith("0x") else float(code.strip() or 0)
        except ValueError:
            return 0
    if not isinstance(code, (int, float)) or not math.isfinite(code):
        return 0
    # 32 bits, as in TypeScript.
    return (int(code) + 2**31) % 2**32 - 2**31
