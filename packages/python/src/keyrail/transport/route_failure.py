"""Decides whether a failed call may be sent to another endpoint, and which failure is reported."""

from __future__ import annotations

from collections.abc import Sequence

from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError, replace_fields
from ..failure.facts import Facts
from ..failure.is_read_method import is_read_method
from ..failure.is_rejected_before_run import is_rejected_before_run
from ..failure.kinds import FailureKind

# Kinds of failure that another endpoint may not have, in the order in which they are reported. Failures that the user has to fix come
# first, because they would otherwise go unnoticed. Then come responses of a node, and last the failures without a response.
_REPORT_ORDER: tuple[FailureKind, ...] = (
    "wrongNetwork",
    "auth",
    "forbidden",
    "quota",
    "missingData",
    "methodUnavailable",
    "lagging",
    "unknown",
    "throttled",
    "badResponse",
    "unavailable",
    "timeout",
    "network",
)


def may_try_next_endpoint(method: str, failure: KeyrailError) -> bool:
    """Check whether a failed call may be sent to another endpoint.

    A read may, if another endpoint may know or support what this one does not, or if nobody knows what its error means. Any other
    method may only if this endpoint cannot have run it: the call was not sent, or it was rejected first.

    Args:
        method: The method of the call.
        failure: How the call failed at the first endpoint.

    """
    if failure.kind not in _REPORT_ORDER:
        return False
    if is_read_method(method):
        return True
    # The chain id in the response shows the other chain, so a node has taken the call.
    if failure.kind == "wrongNetwork" and failure.source == "client":
        return False
    return is_rejected_before_run(failure)


def choose_failure(failures: Sequence[KeyrailError], skipped: Sequence[tuple[str, str]] = ()) -> KeyrailError:
    """Choose which of the failures of several endpoints the call fails with.

    A retryable failure goes first, so that the call is retried, after the shortest of the waits that the endpoints asked for. The
    message lists every endpoint.

    Args:
        failures: One for each endpoint that was tried, at least one.
        skipped: The redacted URLs of the others, each with the reason why it was not tried.

    """
    if len(failures) + len(skipped) == 1:
        return failures[0]
    retryable = [failure for failure in failures if failure.retryable]
    chosen = min(retryable or failures, key=lambda failure: _REPORT_ORDER.index(failure.kind))
    tried = [(failure.redacted_url or "", str(failure.kind)) for failure in failures]
    listed = list_endpoints([*tried, *skipped], "failed") if skipped else list_endpoints(tried)
    wait_ms = chosen.retry_after_ms
    if retryable:
        wait_ms = min(failure.retry_after_ms or 0 for failure in retryable) or None
    return replace_fields(chosen, f"{chosen} {listed}", retry_after_ms=wait_ms)


def list_endpoints(outcomes: Sequence[tuple[str, str]], verb: str = "were tried") -> str:
    """List endpoints for the end of an error message.

    Args:
        outcomes: Redacted URLs, each with the outcome there.
        verb: The verb of the sentence.

    """
    shown = ", ".join(f"{url} ({outcome})" for url, outcome in outcomes)
    return f"{len(outcomes)} endpoints {verb}: {shown}."


def create_all_excluded_failure(method: str, first: str, skipped: Sequence[tuple[str, str]]) -> KeyrailError:
    """Create the failure of a call that no endpoint is left for, because all of them are on another chain.

    Args:
        method: The method of the call.
        first: The name or redacted URL of the first endpoint.
        skipped: The redacted URLs of all endpoints, each with the reason why it was not tried.

    """
    facts = Facts(kind="wrongNetwork", text="every endpoint is on another chain than chain_id")
    failure = create_failure(facts, method=method, redacted_url=first)
    if len(skipped) == 1:
        return failure
    return replace_fields(failure, f"{failure} {list_endpoints(skipped, 'failed')}")
