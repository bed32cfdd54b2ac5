"""How large a batch may be at one endpoint."""

from __future__ import annotations

from collections.abc import Sequence

from .batch_cap import BatchCap
from .call_settings import CallSettings
from .steps import Call

# Around method and params: `{"jsonrpc":"2.0","id":9007199254740991,"method":"","params":},`.
_FRAME_BYTES = 64


class BatchLimits:
    """The maximum number of calls and bytes of a batch, as far as it is known."""

    def __init__(self, settings: CallSettings) -> None:
        self.cap = BatchCap(settings.max_calls)
        self.max_bytes = settings.max_bytes


def get_max_bytes(call: Call) -> int:
    """Return an upper bound of the size of a call in UTF-8."""
    return _FRAME_BYTES + len(call.method) + (len(call.params) if call.params.isascii() else 4 * len(call.params))


def divide(calls: Sequence[Call], places: Sequence[int], max_calls: int, limits: BatchLimits) -> list[list[int]]:
    """Divide calls into parts that fit into one request each."""
    if len(places) > max_calls:
        limits.cap.split()
    parts: list[list[int]] = []
    total = 0
    for at in places:
        size = get_max_bytes(calls[at])
        if not parts or len(parts[-1]) >= max_calls or total + size > limits.max_bytes:
            parts.append([])
            total = 0
        parts[-1].append(at)
        total += size
    return parts
