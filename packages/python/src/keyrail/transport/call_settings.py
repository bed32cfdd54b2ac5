"""The options for retries, batches and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from ..failure.check import check, check_names, check_range, describe

MAX_TIMEOUT_MS = 2**31 - 1
MAX_RETRIES = 100_000
_MAX_DELAY_MS = 10**9


class RetryOptions(TypedDict, total=False):
    """How failed calls are retried."""

    retries: int
    """The maximum number of retries of a call. Default: 3."""
    base_ms: float
    """The first delay is random, up to this many milliseconds. The limit doubles with each retry. Default: 150."""
    cap_ms: float
    """The maximum random delay, in milliseconds. A delay that the server requests is not limited. Default: 5,000."""


class BatchOptions(TypedDict, total=False):
    """How large a batch may be."""

    max_calls: int
    """The maximum number of calls in one request. Default: 100."""
    max_bytes: int
    """The maximum size of a request body, in bytes. A larger single call is sent alone. Default: 512,000."""


@dataclass(slots=True, frozen=True)
class CallSettings:
    """The checked options with their defaults."""

    timeout_ms: float | None
    retries: int
    base_ms: float
    cap_ms: float
    max_calls: int
    max_bytes: int
    max_response_bytes: int
    max_in_flight: int
    resends: int


def create_call_settings(
    *,
    timeout_ms: float | None = None,
    retry: bool | int | RetryOptions = True,
    batch: BatchOptions | None = None,
    max_response_bytes: int | None = None,
    max_in_flight: int | None = None,
    resends: int | None = None,
) -> CallSettings:
    """Check the options.

    Raises:
        KeyrailError: With kind ``invalidRequest``. The message names the option and how to fix it.

    """
    check_range("timeout_ms", timeout_ms, 1, MAX_TIMEOUT_MS)
    check(
        isinstance(retry, (bool, int, Mapping)),
        f'retry must be True, False, a number of retries or a dict such as {{"retries": 3}}, not {describe(retry)}.',
    )
    retries: dict[str, Any] = {}
    if isinstance(retry, Mapping):
        retries = dict(retry)
    elif not isinstance(retry, bool):
        retries = {"retries": retry}
    elif not retry:
        retries = {"retries": 0}
    check_names("retry", retries, ("retries", "base_ms", "cap_ms"))
    check_range("retry.retries", retries.get("retries"), 0, MAX_RETRIES, whole=True)
    for name in ("base_ms", "cap_ms"):
        check_range(f"retry.{name}", retries.get(name), 0, _MAX_DELAY_MS)
    check(
        batch is None or isinstance(batch, Mapping),
        f'batch must be a dict such as {{"max_calls": 100}}, not {describe(batch)}.',
    )
    size: dict[str, Any] = dict(batch or {})
    check_names("batch", size, ("max_calls", "max_bytes"))
    check_range("batch.max_calls", size.get("max_calls"), 1, 100_000, whole=True)
    check_range("batch.max_bytes", size.get("max_bytes"), 1, 2**31, whole=True)
    check_range("max_response_bytes", max_response_bytes, 1, 2**31, whole=True)
    check_range("max_in_flight", max_in_flight, 1, 10_000, whole=True)
    check_range("resends", resends, 0, 100, whole=True)
    return CallSettings(
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
