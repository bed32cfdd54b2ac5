"""What an iteration over logs asks of web3.py, without asking: its steps are generators, taken synchronously or asynchronously."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar


@dataclass(slots=True, frozen=True)
class Ask:
    """Asks web3.py. Sent back is the answer, or the exception that came in its place."""

    of: Callable[[Any], Any]
    """Is given the ``eth`` of either web3.py."""


Answer = TypeVar("Answer")
Asking: TypeAlias = Generator[Ask, Any, Answer]
"""Steps that ask, and end with what they found."""


def ask(of: Callable[[Any], Any]) -> Asking[Any]:
    """Ask, and raise here what came in the place of an answer."""
    end = yield Ask(of)
    if isinstance(end, Exception):
        raise end
    return end
