"""How long the server asked to wait."""

from __future__ import annotations

import re
import time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from .data_text import data_text
from .facts import Facts

_ASKED = re.compile(
    r'(?:(AfterMs)|backoff_seconds|again|retry|wait)(?:":| after| in| for)? ?([\d.]+) ?(mi?[ls]|[sm,}])',
    re.IGNORECASE | re.ASCII,
)


def _date_ms(text: str | None) -> float | None:
    # Only a date has colons.
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
        date = date.replace(tzinfo=timezone.utc)
    return date.timestamp() * 1_000


def retry_after(facts: Facts, now_ms: float | None = None) -> float | None:
    """Read the wait that was asked for: from the error's data, the ``retry-after`` header in seconds, the text, the header as a date.

    Args:
        facts: What is known of the failure.
        now_ms: The time an HTTP-date is counted from, in milliseconds since 1970. Default: the answer's own ``date``, else
            this machine's clock.

    Returns:
        Milliseconds, 0 or more; None where nothing was asked.

    See RFC 9110 section 10.2.3.

    """
    header = (facts.retry_after or "").strip()
    found = _ASKED.search(f"{data_text(facts.rpc_error)} wait {header}s {facts.text}")
    if found:
        unit = found[3].lower()
        scale = 1 if found[1] or len(unit) > 1 else 60_000 if unit == "m" else 1_000
        try:
            wait = float(found[2]) * scale
            if wait < float("inf"):
                return wait
        except ValueError:
            pass  # '1.2.3' is no number.
    date = _date_ms(header)
    if date is None:
        return None
    now = now_ms if now_ms is not None else _date_ms(facts.date) or time.time() * 1_000
    return max(0.0, date - now)
