"""The delay that a server requested."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from .error_data import get_error_text
from .facts import Facts

_DELAY = re.compile(
    r'(?:(AfterMs)|backoff_seconds|again|retry|wait)(?:":| after| in| for)? ?([\d.]+) ?(mi?[ls]|[sm,}])',
    re.IGNORECASE | re.ASCII,
)


# The longest time that the timers of JavaScript support, so that both languages wait as long.
_MAX_MS = 2**31 - 1


def _date_ms(text: str | None) -> float | None:
    # Only dates contain colons.
    if not text or ":" not in text:
        return None
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        try:
            date = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        except ValueError:
            return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return date.timestamp() * 1_000


def parse_retry_after(facts: Facts, now_ms: float | None = None) -> float | None:
    """Read the requested delay from the error's data, the ``retry-after`` header in seconds, the text, or the header as a date.

    Args:
        facts: What is known about the failure.
        now_ms: The current time, in milliseconds since 1970, for an HTTP-date. Default: the ``date`` header of the response,
            or this machine's clock.

    Returns:
        Milliseconds, from 0 to 2**31 - 1; None if the server requested no delay.

    See RFC 9110 section 10.2.3.

    """
    header = (facts.retry_after or "").strip()
    found = _DELAY.search(f"{get_error_text(facts.rpc_error)} wait {header}s {facts.text}")
    if found:
        unit = found[3].lower()
        scale = 1 if found[1] or len(unit) > 1 else 60_000 if unit == "m" else 1_000
        try:
            delay = float(found[2]) * scale
            if delay < float("inf"):
                return min(delay, _MAX_MS)
        except ValueError:
            pass  # Such as '1.2.3'.
    date = _date_ms(header)
    if date is None:
        return None
    now = now_ms if now_ms is not None else _date_ms(facts.date) or time.time() * 1_000
    return min(max(0.0, date - now), _MAX_MS)
