"""The options for budgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..failure.check import check, check_range, describe
from .compute_units import get_compute_units

_MAX = 2**31 - 1
_MAX_UNITS = 10**9
_LIMITS = ("requests_per_second", "compute_units_per_second", "requests_per_day", "compute_units_per_day", "burst")


@dataclass(slots=True, frozen=True, kw_only=True)
class Budget:
    """How much is sent to an endpoint per second and per UTC day. Calls over the limit wait in a queue.

    With or without limits, it reacts to rejections: after "too many requests" it pauses, and then sends at half the rate, which recovers
    within a minute of responses. After "quota used up", it pauses until the reset.

    Args:
        requests_per_second: How many calls may be sent per second; each call of a batch counts. Not together with
            ``compute_units_per_second``. Default: no limit.
        compute_units_per_second: How many compute units may be spent per second. Default: no limit.
        requests_per_day: How many calls may be sent per UTC day. Not together with ``compute_units_per_day``. Default: no limit.
        compute_units_per_day: How many compute units may be spent per UTC day. Default: no limit.
        burst: How much may be sent at once after an idle time, in the unit of the limit per second. Default: a tenth of that limit.
        compute_units: The cost of methods in compute units, where it differs from the built-in table.
        max_wait_ms: How long a call may wait in the queue, in milliseconds. Its own time limit does not run during that time.
            Default: 60,000.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if an option is wrong. A call fails with kind ``throttled`` and source ``client`` if
            it would wait longer than ``max_wait_ms``, and with kind ``quota`` if the limit of the day is used up. It was not sent.

    Example:
        >>> provider = KeyrailProvider("http://127.0.0.1:8545", budget=Budget(requests_per_second=25))

    """

    requests_per_second: float | None = None
    compute_units_per_second: float | None = None
    requests_per_day: float | None = None
    compute_units_per_day: float | None = None
    burst: float | None = None
    compute_units: Mapping[str, float] | None = None
    max_wait_ms: float = 60_000

    def __post_init__(self) -> None:
        for name in _LIMITS:
            check_range(name, getattr(self, name), 0.001, _MAX)
        check_range("max_wait_ms", self.max_wait_ms, 0, _MAX)
        check(
            self.compute_units is None or isinstance(self.compute_units, Mapping),
            f'compute_units must be a dict such as {{"eth_call": 26}}, not {describe(self.compute_units)}.',
        )
        for method, units in (self.compute_units or {}).items():
            check_range(f"compute_units[{method!r}]", units, 0, _MAX_UNITS)
        check(
            not (self.requests_per_second and self.compute_units_per_second)
            and not (self.requests_per_day and self.compute_units_per_day),
            "A limit is in requests or in compute units, not both. Remove one of them.",
        )
        check(
            self.burst is None or self.requests_per_second or self.compute_units_per_second,
            "burst works only with requests_per_second or compute_units_per_second. Set one of them, or remove burst.",
        )

    def get_units(self, method: str) -> float:
        """Return the compute units of one call of a method."""
        own = (self.compute_units or {}).get(method)
        return get_compute_units(method) if own is None else own


def check_budget(given: Any) -> None:
    """Reject a value that is not a budget. None passes.

    Raises:
        KeyrailError: With kind ``invalidRequest``.

    """
    check(
        given is None or isinstance(given, Budget),
        f"budget must be a Budget object, such as Budget(requests_per_second=25), not {describe(given)}.",
    )
