"""How calls travel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from ..failure.check import check, check_names, check_range

_LONGEST_MS = 2**31 - 1
_MOST_RETRIES = 100_000
_LARGEST_MS = 1e9


class RetryOptions(TypedDict, total=False):
    """How failed calls are made again."""

    retries: int
    """How often, at most. Default: 3."""
    base_ms: float
    """The first wait is a random time up to this, in milliseconds; it doubles with each retry. Default: 150."""
    cap_ms: float
    """No such wait is longer, in milliseconds. A wait that the server asks for is kept as it is. Default: 5,000."""


class BatchOptions(TypedDict, total=False):
    """How large a request for several calls may be."""

    max_calls: int
    """Most calls in one request. Default: 100."""
    max_bytes: int
    """Largest body of one request, in bytes; a call that is larger by itself goes alone. Default: 512,000."""


@dataclass(slots=True, frozen=True)
class Plan:
    """The options, checked, with their defaults."""

    timeout_ms: float | None
    retries: int
    base_ms: float
    cap_ms: float
    max_calls: int
    max_bytes: int
    max_response_bytes: int
    max_in_flight: int
    resends: int


def plan_of(
    *,
    timeout_ms: float | None = None,
    retry: bool | int | RetryOptions = True,
    batch: BatchOptions | None = None,
    max_response_bytes: int | None = None,
    max_in_flight: int | None = None,
    resends: int | None = None,
) -> Plan:
    """Check the options.

    Raises:
        KeyrailError: Of kind ``invalidRequest``, naming the option and the mend.

    """
    check_range("timeout_ms", timeout_ms, 1, _LONGEST_MS)
    check(
        isinstance(retry, (bool, int, Mapping)),
        "retry must be True, False, a number of retries, or { retries, base_ms, cap_ms }",
    )
    retries: dict[str, Any] = {}
    if isinstance(retry, Mapping):
        retries = dict(retry)
    elif not isinstance(retry, bool):
        retries = {"retries": retry}
    elif not retry:
        retries = {"retries": 0}
    check_names("retry", retries, ("retries", "base_ms", "cap_ms"))
    check_range("retries", retries.get("retries"), 0, _MOST_RETRIES, whole=True)
    for name in ("base_ms", "cap_ms"):
        check_range(name, retries.get(name), 0, _LARGEST_MS)
    check(batch is None or isinstance(batch, Mapping), "batch must be { max_calls, max_bytes }")
    size: dict[str, Any] = dict(batch or {})
    check_names("batch", size, ("max_calls", "max_bytes"))
    check_range("batch max_calls", size.get("max_calls"), 1, 100_000, whole=True)
    check_range("batch max_bytes", size.get("max_bytes"), 1, 2**31, whole=True)
    check_range("max_response_bytes", max_response_bytes, 1, 2**31, whole=True)
    check_range("max_in_flight", max_in_flight, 1, 10_000, whole=True)
    check_range("resends", resends, 0, 100, whole=True)
    return Plan(
        timeout_ms=timeout_ms,
        retries=retries.get("retries", 3),
        base_ms=retries.get("base_ms", 150),
        cap_ms=retries.get("cap_ms", 5_000),
        max_calls=size.get("max_calls", 100),
        max_bytes=size.get("max_bytes", 512_000),
        max_response_bytes=max_response_bytes or 2**26,
        max_in_flight=max_in_flight or 64,
        resends=resends or 0,
    )
