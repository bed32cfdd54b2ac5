"""Creates a ``KeyrailError`` from what is known about a failure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .classify import classify
from .error import KeyrailError, create_error
from .facts import Facts
from .is_read_method import is_read_method
from .kinds import FailureKind, FailureSource
from .mask import mask, mask_text
from .parse_retry_after import parse_retry_after

# Kinds of failure that can go away without a change by the caller.
_TEMPORARY = frozenset({"throttled", "unavailable", "network", "timeout", "badResponse", "lagging"})
# Kinds of failure that an access service reports, not the node.
_FROM_SERVICE = frozenset({"auth", "forbidden", "throttled", "quota", "batchTooLarge", "wrongNetwork", "unavailable"})
# Codes with which services reject a call before they forward it.
_REJECTION_CODES = frozenset({429, -32005, -32007, -32009, -32017})
# The reasons with which Keyrail's gateway reports that it did not forward the call.
_NOT_FORWARDED = frozenset({"draining", "no_upstream", "key_store_unavailable"})


def create_failure(facts: Facts, *, method: str, redacted_url: str, secrets: Sequence[str] = ()) -> KeyrailError:
    """Classify a failure, find its source and whether the call may be retried, and mask secrets in everything the error shows.

    Args:
        facts: What is known about the failure.
        method: The JSON-RPC method of the call.
        redacted_url: The URL of the endpoint without its secrets.
        secrets: The secrets to mask.

    """
    rpc_error: dict[str, Any] | None = None
    if facts.rpc_error is not None:
        code = facts.rpc_error.get("code")
        code = code if isinstance(code, int) and not isinstance(code, bool) else 0
        # Masked first: the result can be written as JSON even if the response nests too deep.
        rpc_error = mask({**facts.rpc_error, "code": code}, secrets, {"code": code, "message": "…"})
    masked = Facts(
        text=facts.text,
        status=facts.status,
        rpc_error=rpc_error,
        retry_after=facts.retry_after,
        date=facts.date,
        batch=facts.batch,
    )
    kind: FailureKind = facts.kind or classify(masked, method) or "unknown"
    data = rpc_error.get("data") if rpc_error else None
    members: dict[str, Any] = data if isinstance(data, dict) else {}
    reason = members.get("reason")
    text = re.sub(r"\s+", " ", mask_text(facts.text, secrets))[:300].rstrip(". ")
    # A question, such as "did you mean …?", has its own end.
    text = text if text.endswith(("?", "!")) else f"{text}."
    # Half of a surrogate pair cannot be printed.
    text = text.encode("utf-8", "replace").decode("utf-8")
    rejected = facts.status == 429 or (
        (facts.status or 0) < 500 and rpc_error is not None and rpc_error.get("code") in _REJECTION_CODES
    )
    retryable = (
        kind in _TEMPORARY
        and not facts.final
        and (
            facts.unsent
            or is_read_method(method)
            or (kind == "throttled" and (facts.kind is not None or rejected))
            or (isinstance(reason, str) and reason in _NOT_FORWARDED)
        )
    )
    source: FailureSource
    if kind in ("network", "badResponse"):
        source = "transport"
    elif facts.kind:
        source = "client"
    # Only services put a request id on their errors; nodes do not.
    elif not rpc_error or members.get("requestId") or kind in _FROM_SERVICE:
        source = "service"
    else:
        source = "node"
    details = [
        kind,
        f"HTTP {facts.status}" if facts.status else "",
        f"code {rpc_error['code']}" if rpc_error else "",
        redacted_url,
    ]
    return create_error(
        f"{method} failed ({', '.join(filter(None, details))}): {text}",
        kind=kind,
        source=source,
        retryable=bool(retryable),
        retry_after_ms=parse_retry_after(masked),
        method=method,
        redacted_url=redacted_url,
        status=facts.status,
        rpc_error=rpc_error,
    )
