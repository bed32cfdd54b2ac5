"""Turns tracing off while a request is sent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

# The key of older versions of OpenTelemetry's instrumentations.
_PLAIN_KEY = "suppress_instrumentation"


def pause_tracing() -> Callable[[], None] | None:
    """Turn off OpenTelemetry's instrumentations of HTTP libraries in the current context.

    They would record the full URL in their spans, and the URL contains the key. Costs one look-up if OpenTelemetry is not loaded.

    Returns:
        A function that turns them on again, in the same context. None if OpenTelemetry is not loaded.

    """
    context: Any = sys.modules.get("opentelemetry.context")
    if context is None:
        return None
    paused = context.get_current()
    for key in (_PLAIN_KEY, getattr(context, "_SUPPRESS_INSTRUMENTATION_KEY", _PLAIN_KEY)):
        paused = context.set_value(key, True, paused)
    token = context.attach(paused)
    return lambda: context.detach(token)
