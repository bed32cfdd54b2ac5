"""Responses of the mock node."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .fault import Fault

# An id that no client uses.
_UNKNOWN_ID = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Reply:
    """The response to a request. A WebSocket sends only its text."""

    status: int
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Response:
    """The response to one call."""

    status: int = 200
    result: Any = None
    error: Mapping[str, Any] | None = None
    text: str | None = None

    def to_text(self, response_id: Mapping[str, Any]) -> str:
        """Convert the response to JSON.

        Args:
            response_id: The member ``id``, or no member.

        """
        if self.text is not None:
            return self.text
        outcome = {"result": self.result} if self.error is None else {"error": self.error}
        return json.dumps({"jsonrpc": "2.0", **response_id, **outcome})


def to_response(error: Mapping[str, Any], method: str, fault: Fault) -> Response:
    """Create the response to a call that a fault rejects."""
    if "error" not in error:
        return Response(status=error["status"], text=error.get("text", ""))
    details = error["error"]
    data = details.get("data") if fault.data is None else fault.data
    if fault.retry_after_ms is not None and isinstance(data, dict) and "retryAfterMs" in data:
        data = {**data, "retryAfterMs": fault.retry_after_ms}
    message = fault.message or details["message"].replace("$METHOD", method)
    shown = {"code": details["code"], "message": message, **({} if data is None else {"data": data})}
    return Response(status=error["status"], error=shown)


def get_headers(fault: Fault | None) -> dict[str, str]:
    """Return the headers that a fault adds."""
    if fault is None or fault.retry_after_ms is None:
        return {}
    return {"retry-after": str(math.ceil(fault.retry_after_ms / 1_000))}


def get_response_id(calls: list[dict[str, Any]], at: int, fault: Fault | None) -> dict[str, Any]:
    """Return the member ``id`` of the response to a call."""
    own = calls[at]["id"]
    replaced: dict[Any, dict[str, Any]] = {
        "wrongId": {"id": _UNKNOWN_ID},
        "stringId": {"id": str(own)},
        "nullId": {"id": None},
        "missingId": {},
        "duplicateId": {"id": calls[(at + 1) % len(calls)]["id"]},
    }
    is_kind = fault is not None and isinstance(fault.kind, str)
    return replaced.get(fault.kind, {"id": own}) if fault and is_kind else {"id": own}


def create_body(body: Any, calls: list[dict[str, Any]], in_batch: bool) -> str:
    """Create the body of a custom response."""
    if isinstance(body, str):
        return body

    def fill(value: Any, call_id: Any) -> Any:
        if isinstance(value, list):
            return [fill(one, call_id) for one in value]
        if isinstance(value, dict):
            return {name: call_id if name == "id" and one == 1 else fill(one, call_id) for name, one in value.items()}
        return value

    is_single = isinstance(body, dict) and body.get("id") == 1
    filled = [fill(body, one["id"]) for one in calls]
    return json.dumps(filled if in_batch and is_single else filled[0])
