"""Makes the one error of what is known of a failure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .classify import classify
from .error import KeyrailError, make_error
from .facts import Facts
from .kinds import FailureKind, FailureSource
from .mask import mask, masked_text
from .repeatable import repeatable
from .retry_after import retry_after

# What passes by itself.
_PASSING = frozenset({"throttled", "unavailable", "network", "timeout", "badResponse", "lagging"})
# What an access service says in place of the node.
_REFUSALS = frozenset({"auth", "forbidden", "throttled", "quota", "batchTooLarge", "wrongNetwork", "unavailable"})
# Codes that say by themselves that a call was turned away.
_TURNED_AWAY = frozenset({429, -32005, -32007, -32009, -32017})
# The reasons with which Keyrail's service says that it has not forwarded the call.
_NOT_FORWARDED = frozenset({"draining", "no_upstream", "key_store_unavailable"})


def create_failure(facts: Facts, *, method: str, label: str, secrets: Sequence[str] = ()) -> KeyrailError:
    """Give a failure its kind, say where it arose and whether the call may be made again. Secrets are masked in all of it.

    Args:
        facts: What is known.
        method: The method of the call.
        label: The printable form of the address.
        secrets: What must not be shown.

    """
    rpc_error: dict[str, Any] | None = None
    if facts.rpc_error is not None:
        code = facts.rpc_error.get("code")
        code = code if isinstance(code, int) and not isinstance(code, bool) else 0
        # Masked first: what is left can be written as JSON, however deep it came.
        rpc_error = mask({**facts.rpc_error, "code": code}, secrets, {"code": code, "message": "…"})
    judged = Facts(
        text=facts.text,
        status=facts.status,
        rpc_error=rpc_error,
        retry_after=facts.retry_after,
        date=facts.date,
        batch=facts.batch,
    )
    kind: FailureKind = facts.kind or classify(judged, method) or "unknown"
    data = rpc_error.get("data") if rpc_error else None
    held: dict[str, Any] = data if isinstance(data, dict) else {}
    reason = held.get("reason")
    said = re.sub(r"\s+", " ", masked_text(facts.text, secrets))[:300].rstrip(". ") + "."
    # Half a surrogate pair could not be printed.
    said = said.encode("utf-8", "replace").decode("utf-8")
    turned_away = facts.status == 429 or (
        (facts.status or 0) < 500 and rpc_error is not None and rpc_error.get("code") in _TURNED_AWAY
    )
    retryable = (
        kind in _PASSING
        and not facts.final
        and (
            facts.unsent
            or repeatable(method)
            or (kind == "throttled" and (facts.kind is not None or turned_away))
            or (isinstance(reason, str) and reason in _NOT_FORWARDED)
        )
    )
    source: FailureSource
    if kind in ("network", "badResponse"):
        source = "transport"
    elif facts.kind:
        source = "client"
    # Only a service numbers its refusals; a node does not.
    elif not rpc_error or held.get("requestId") or kind in _REFUSALS:
        source = "service"
    else:
        source = "node"
    status = f", HTTP {facts.status}" if facts.status else ""
    told = f", code {rpc_error['code']}" if rpc_error else ""
    return make_error(
        f"{method} failed: {kind}{status}{told} at {label}: {said}",
        kind=kind,
        source=source,
        retryable=bool(retryable),
        retry_after_ms=retry_after(judged),
        method=method,
        label=label,
        status=facts.status,
        rpc_error=rpc_error,
    )
