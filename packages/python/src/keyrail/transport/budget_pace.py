"""How fast calls may be sent to an endpoint."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, Literal

from ..failure.error import KeyrailError
from ..failure.phrase import compile_phrase, to_words, words_contain
from ..message.response import Result
from .steps import Outcome, now_ms, wall_ms
from .token_bucket import TokenBucket

Rejection = Literal["throttled", "quota"]
"""The reasons for which an endpoint rejects calls for a while, independent of the call."""

DAY_MS = 86_400_000
# The pause after a rejection that names none. It doubles with each rejection in a row, up to 64 times.
_PAUSE_MS = 250
_MAX_DOUBLINGS = 6
# No server can ask for a longer pause by rejecting calls as too many.
_MAX_PAUSE_MS = 300_000
# The pause after a used-up quota without a known reset. It doubles with each rejection in a row, up to an hour.
_QUOTA_MS = 300_000
_MAX_UNKNOWN_QUOTA_MS = 3_600_000
# The longest quota period: a month.
_MAX_QUOTA_MS = 31 * DAY_MS
# Smaller numbers are seconds since 1970, larger ones milliseconds.
_MAX_SECONDS = 1e11


def _get_quota_ms(failure: KeyrailError, strikes: int) -> float:
    """Return how long a used-up quota lasts: until the reset that the service names, or until the end of the UTC day if it is per day."""
    data = (failure.rpc_error or {}).get("data")
    members: dict[str, Any] = data if isinstance(data, dict) else {}
    date = wall_ms()
    named = _parse_date_ms(members.get("resetAt")) - date
    if named > 0:
        return min(named, _MAX_QUOTA_MS)
    if failure.retry_after_ms:
        return min(failure.retry_after_ms, _MAX_QUOTA_MS)
    if members.get("window") == "day" or _speaks_of_day(str(failure)):
        return DAY_MS - date % DAY_MS
    return float(min(_QUOTA_MS * 2 ** min(strikes, _MAX_DOUBLINGS), _MAX_UNKNOWN_QUOTA_MS))


def _parse_date_ms(value: Any) -> float:
    """Parse a date in seconds or milliseconds since 1970, or in ISO 8601. Returns minus infinity for any other value."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value * (1_000 if value < _MAX_SECONDS else 1)
    try:
        date = datetime.fromisoformat(str(value))
    except ValueError:
        return float("-inf")
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() * 1_000


def _speaks_of_day(message: str) -> bool:
    words = to_words(message, "")
    return any(words_contain(words, compile_phrase(phrase)) for phrase in ("daily", "per day"))


class Pace:
    """Controls the rate of one endpoint: additive increase, multiplicative decrease, as TCP does. See RFC 5681 section 3.1.

    A rejection as too many halves the rate, once for all calls that were in flight then, and pauses all calls for as long as the
    endpoint asks, or for a time that grows. Then one call is sent as a trial. The others follow when it gets a response, and each
    second of responses increases the rate by a fiftieth. If no rate was configured, the rate of the second before the rejection is used.

    Args:
        limit: The configured rate in units per second; infinity for none.
        burst_ms: How much may be sent at once: as many units as the rate allows in this time.

    """

    def __init__(self, limit: float, burst_ms: float) -> None:
        self._limit = limit
        self._bucket = TokenBucket(limit, burst_ms)
        self._ceiling = limit
        self._paused_until = float("-inf")
        self._kind: Rejection = "throttled"
        self._trial: Literal["none", "due", "out"] = "none"
        self._strikes = 0
        self._rejected_at = float("-inf")
        self._grown_at = 0.0
        # Units sent in this second and in the one before: the rate at a rejection.
        self._second = 0
        self._sent = 0.0
        self._sent_before = 0.0

    @property
    def rate(self) -> float:
        """Units per second now; infinity without a limit."""
        return self._bucket.rate

    @property
    def is_trying(self) -> bool:
        """Whether one call is in flight as a trial after a pause. No other call may be sent."""
        return self._trial == "out"

    def wait_ms(self, cost: float, time: float, ahead: float = 0) -> float:
        """Return how long until a call of this cost may be sent, in ms, after others of the cost ``ahead``. An estimate during a trial."""
        trial_ms = self._get_pause_ms() if self.is_trying else 0
        return max(self._paused_until - time, self._bucket.wait_ms(cost, time, ahead), trial_ms)

    def get_pause(self, time: float) -> tuple[float, Rejection]:
        """Return how much longer the pause lasts, in milliseconds, and the reason."""
        return max(0, self._paused_until - time), self._kind

    def send(self, cost: float, time: float) -> bool:
        """Count a call that is sent. Returns whether it is the trial."""
        self._bucket.take(cost, time)
        current = math.floor(time / 1_000)
        if current != self._second:
            self._sent_before = self._sent if current == self._second + 1 else 0
            self._sent = 0
            self._second = current
        self._sent += cost
        if self._trial != "due":
            return False
        self._trial = "out"
        return True

    def hear(self, sent_at: float, was_trial: bool, outcome: Outcome) -> bool:
        """Learn from the outcome of a call. Returns whether a pause starts."""
        if was_trial:
            self._trial = "none"
        # A call that was sent before the last rejection shows nothing new, unless it asks for a longer pause.
        is_new = sent_at >= self._rejected_at
        if isinstance(outcome, Result):
            if is_new:
                self._strikes = 0
                self._grow()
            return False
        throttled = outcome.kind == "throttled"
        if outcome.source != "service" or not (throttled or outcome.kind == "quota"):
            return False
        if throttled and not is_new and not outcome.retry_after_ms:
            return False
        time = now_ms()
        if throttled:
            requested_ms = outcome.retry_after_ms
            ms = min(self._get_pause_ms() if requested_ms is None else requested_ms, _MAX_PAUSE_MS)
        else:
            ms = _get_quota_ms(outcome, self._strikes)
        if is_new:
            if throttled:
                self._slow(time)
            self._rejected_at = time
            self._strikes += 1
        if self._trial == "none":
            self._trial = "due"
        if time + ms <= self._paused_until:
            return False
        self._paused_until = time + ms
        self._kind = "throttled" if throttled else "quota"
        return True

    def forget(self, was_trial: bool, refund: float) -> None:
        """End a call without a response of the endpoint: it was cancelled, or it was not sent and ``refund`` returns its cost."""
        if was_trial:
            self._trial = "due"
        if refund:
            self._bucket.take(-refund, now_ms())

    def _get_pause_ms(self) -> float:
        return float(_PAUSE_MS * 2 ** min(self._strikes, _MAX_DOUBLINGS))

    def _slow(self, time: float) -> None:
        # At least four per second: a rejection at a lower rate had another cause.
        if self._ceiling == float("inf"):
            self._ceiling = max(4, self._sent, self._sent_before)
        # At least a 32nd, so that the rate recovers within a useful time.
        self._bucket.rate = max(min(self._bucket.rate, self._ceiling) / 2, self._ceiling / 32)
        self._grown_at = time

    def _grow(self) -> None:
        if self._bucket.rate >= self._ceiling:
            return
        time = now_ms()
        # Idle time is no evidence, so at most one second counts.
        self._bucket.rate += (self._ceiling / 50) * min(1, (time - self._grown_at) / 1_000)
        self._grown_at = time
        if self._bucket.rate >= self._ceiling:
            self._bucket.rate = self._ceiling = self._limit
