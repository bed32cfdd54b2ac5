"""Refuses what is not as it must be, in words that name the option and the mend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .error import KeyrailError, make_error


def invalid(message: str) -> KeyrailError:
    """Make a failure on this side, before anything was sent: a wrong option or a wrong call."""
    return make_error(message, kind="invalidRequest", source="client", retryable=False)


def check(ok: object, message: str) -> None:
    """Raise ``message`` as a failure of kind ``invalidRequest`` unless ``ok``."""
    if not ok:
        raise invalid(message)


def check_range(name: str, value: Any, least: float, most: float, *, whole: bool = False) -> None:
    """Refuse a number that is out of range. None passes: it means the default.

    What is no number may be a misplaced secret, and is not repeated.
    """
    if value is None:
        return
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    ok = number and least <= value <= most and (not whole or value == int(value))
    given = value if number else f"of type {type(value).__name__}"
    check(ok, f"{name} must be a {'whole ' if whole else ''}number from {least} to {most}, not {given}")


def check_names(of: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse names that do not exist: a misspelt option would be ignored."""
    for name in given:
        check(name in known, f"{name} is no option of {of}, which are {', '.join(known)}")
