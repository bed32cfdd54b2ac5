"""Reads the response to one call without trusting the server."""

from __future__ import annotations

import math
import re
from typing import Any

from ..failure.facts import Facts
from ..failure.to_json import to_json
from .parse_json import UnreadableJson, parse_json
from .response import HttpResponse, Result
from .to_plain_text import to_plain_text

MISSING: Any = object()
"""Marks a missing member, because null is a value."""

_MAX_ID_LENGTH = 24
_QUOTED_ID = re.compile(r"0|[1-9]\d{0,15}", re.ASCII)


def is_id(value: Any, expected: int) -> bool:
    """Check whether an id is this number. Some servers quote it."""
    return to_whole_number(value) == expected


def to_whole_number(value: Any) -> int | None:
    """Return an id as an int, even if it is written as 1.0 or "1"; None for other values."""
    if isinstance(value, str):
        # Without a sign, spaces or leading zeros.
        return int(value) if _QUOTED_ID.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value // 1:
        return None
    return int(value)


def read_response(response: HttpResponse, call_id: int, body: Any = MISSING) -> Result | Facts:
    """Read a response as the JSON-RPC result of this call, or as a failure. Never raises.

    A result with another id is rejected and not retried, because the server would do the same again. A result without an id is
    accepted, because HTTP pairs it with its request, but only if it is marked as JSON-RPC 2.0: other APIs have a result too.

    Args:
        response: The HTTP response.
        call_id: The id of the call.
        body: The parsed body, if it was parsed already.

    See JSON-RPC 2.0 section 5.

    """
    status = response.status
    problem: str | None = None
    if body is MISSING:
        try:
            body = parse_json(response.text)
        except UnreadableJson as unreadable:
            problem = unreadable.reason
    # Some nodes respond to a call that they cannot parse as if it were a batch.
    unwrapped = isinstance(body, list) and len(body) == 1
    if unwrapped and not (isinstance(body[0], dict) and body[0].get("id") is not None):
        body = body[0]
    members: dict[str, Any] = body if isinstance(body, dict) else {}
    response_id, result, error = members.get("id", MISSING), members.get("result", MISSING), members.get("error")
    id_matches = is_id(response_id, call_id) or (
        response_id is MISSING and members.get("jsonrpc") == "2.0" and not unwrapped
    )
    has_result = result is not MISSING and error is None
    if status < 300 and has_result and id_matches:
        return Result(result)
    # An error about a request that the server could not parse has no id.
    if status < 300 and not id_matches and (has_result or (error is not None and response_id not in (None, MISSING))):
        text = f"response id {format_id(response_id)} does not match request id {call_id}"
        if response_id is MISSING:
            text = f"response has no id; request id is {call_id}"
        return Facts(kind="badResponse", status=status, text=text, final=True)
    # The target of a redirect is not shown, because it may contain the key.
    final = status < 200 or 299 < status < 400
    # An error status is about this call even if the id differs: the server may not have read the request.
    rejection: Any = None
    if not final and (result is MISSING or result is None):
        rejection = error if error is not None else members.get("message")
    message = rejection.get("message", rejection) if isinstance(rejection, dict) else rejection
    if not isinstance(message, str):
        message = response.text
    rpc_error: dict[str, Any] | None = None
    if isinstance(rejection, dict):
        rpc_error = {**rejection, "code": to_int32(rejection.get("code")), "message": message}
    elif isinstance(rejection, list):
        rpc_error = {"code": 0, "message": message, "data": rejection}
    if final:
        text = "the server redirected the request. Redirects are not followed, because they would send the key to another server"
    elif status < 300 and problem:
        text = problem
    else:
        text = to_plain_text(message) or "an empty body"
    return Facts(
        status=status,
        retry_after=response.headers.get("retry-after"),
        date=response.headers.get("date"),
        final=final,
        kind="badResponse" if final or (status < 300 and rejection is None) else None,
        text=text,
        rpc_error=rpc_error,
    )


def format_id(response_id: Any) -> str:
    """Format the id of a response for a message. A long id is not shown, because part of a secret would not be masked."""
    if response_id is MISSING:
        return "(none)"
    text = to_json(response_id)
    return text if text is not None and len(text) <= _MAX_ID_LENGTH else "…"


def to_int32(code: Any) -> int:
    """Convert the code of an error to an integer. Servers also send strings, objects and null."""
    if isinstance(code, str):
        try:
            code = int(code, 16) if code.strip().lower().startswith("0x") else float(code.strip() or 0)
        except ValueError:
            return 0
    if not isinstance(code, (int, float)) or not math.isfinite(code):
        return 0
    # 32 bits, as in TypeScript.
    return (int(code) + 2**31) % 2**32 - 2**31
