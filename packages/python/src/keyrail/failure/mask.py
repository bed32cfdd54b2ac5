"""Replaces secrets in something that is about to be shown."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase
from typing import Any, TypeAlias, TypeVar

from .json_text import json_text

T = TypeVar("T")

_MOST_TEXT = 65_536
# The shortest part of a secret that is hidden.
_RUN = 8
# The base64 digits that depend on 8 bytes alone: at every alignment, 64 bits hold at least 10 of them.
_BASE64_RUN = 10
# Shorter secrets are looked for as they are, but not encoded: every text holds two or three given digits.
_SHORTEST_ENCODED = 4
_MOST_ROUNDS = 3
# %6b, &#x6b; and &#107;, \u006b and \x6b, \n and \", with any number of backslashes.
_ESCAPES = re.compile(r"(?:%|&#x|\\+(?:u00|x))([\da-f]{2});?|&#(\d{2,3});|\\+([\s\S])", re.IGNORECASE | re.ASCII)
_WHITE_SPACE = dict.fromkeys("bfnrt", " ")


def mask(value: T, secrets: Sequence[str], otherwise: T) -> T:
    """Replace each run of 8 or more characters of a secret (all of it, if it is shorter) by '…'.

    Finds it in any letter case, with other characters between its letters and digits, behind percent escapes, JSON escapes and
    numeric HTML entities up to three deep, and as part of a text in hex, base64 or base64url. Reaches every text of lists and
    dicts, keys included, and numbers. The rest stays as it is. Takes time linear in the length of the value.

    Args:
        value: A text or a JSON value.
        secrets: What must not be shown, as it stands in a URL or header.
        otherwise: The result if the masked value would not be JSON (a number was cut), and if the value is longer than 64 KiB of
            JSON or nests deeper than 1,000 levels.

    Example:
        >>> mask("no app for notARealKey", ["notARealKey"], "…")
        'no app for …'

    """
    text = json_text(value)
    if text is None or len(text) > _MOST_TEXT:
        return otherwise
    hidden = bytearray(len(text) + 1)
    # A secret may itself hold a '%', so the text is searched before and after each decoding.
    view = _View(text, range(len(text) + 1))
    for _ in range(_MOST_ROUNDS + 1):
        _hide(view, secrets, hidden)
        decoded = _decode(view)
        if decoded.text == view.text:
            break
        view = decoded
    try:
        masked: T = json.loads(_replace(text, hidden))
    except (ValueError, RecursionError):
        return otherwise
    return masked


@dataclass(slots=True, frozen=True)
class _View:
    """A text without some of its escapes."""

    text: str
    starts: Sequence[int]
    """Where each of its characters, and the end, was in the text that is masked."""


@dataclass(slots=True, frozen=True, eq=False)
class _Reading:
    """A way to read a text: some characters are left out, others count as the same."""

    left_out: re.Pattern[str]
    same: dict[int, int]

    def read(self, text: str) -> str:
        return self.left_out.sub("", text).translate(self.same)

    def places(self, text: str) -> list[int]:
        """Say where in the text each character of the reading is."""
        return [at for at, char in enumerate(text) if not self.left_out.match(char)]


_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_EXACT = _Reading(re.compile(r"(?!)"), _LOWER)
_ALPHANUMERIC = _Reading(re.compile(r"[^a-z\d]+", re.IGNORECASE | re.ASCII), _LOWER)
_BASE64 = _Reading(re.compile(r"[^a-z\d+/_-]+", re.IGNORECASE | re.ASCII), str.maketrans("-_", "+/"))

_Runs: TypeAlias = "dict[tuple[_Reading, int], set[str]]"
"""What must not be shown, by the reading and the length."""


# A key is the same from failure to failure, and a JSON Web Token has thousands of runs.
@lru_cache(maxsize=64)
def _runs_of(secret: str) -> _Runs:
    found: _Runs = {}

    def add(reading: _Reading, written: str, length: int, step: int = 1) -> None:
        if len(written) >= length > 0:
            runs = {written[at : at + length] for at in range(0, len(written) - length + 1, step)}
            found.setdefault((reading, length), set()).update(runs)

    exact = _EXACT.read(secret)
    add(_EXACT, exact, min(len(exact), _RUN))
    add(_ALPHANUMERIC, _ALPHANUMERIC.read(secret), _RUN)
    data = secret.encode("utf-8", "replace")
    if len(data) < _SHORTEST_ENCODED:
        return found
    add(_ALPHANUMERIC, data.hex(), 2 * min(len(data), _RUN), step=2)
    for before in range(3):
        # Digits at the ends also depend on the bytes before and after.
        first, end = (8 * before + 5) // 6, 8 * (before + len(data)) // 6
        digits = b64encode(bytes(before) + data).decode()[first:end]
        add(_BASE64, digits, min(len(digits), _BASE64_RUN))
    return found


def _hide(view: _View, secrets: Sequence[str], hidden: bytearray) -> None:
    by_form: dict[tuple[_Reading, int], list[set[str]]] = {}
    for secret in set(secrets):
        for form, runs in _runs_of(secret).items():
            by_form.setdefault(form, []).append(runs)
    for (reading, length), each in by_form.items():
        seen = reading.read(view.text)
        parts = {seen[at : at + length] for at in range(len(seen) - length + 1)}
        found = {part for runs in each for part in parts & runs}
        if not found:
            continue
        places = reading.places(view.text)
        for at in range(len(seen) - length + 1):
            if seen[at : at + length] in found:
                start, end = view.starts[places[at]], view.starts[places[at + length - 1] + 1]
                hidden[start:end] = b"\1" * (end - start)


def _decode(view: _View) -> _View:
    """Give the text with one layer of escapes less."""
    parts: list[str] = []
    starts: list[int] = []
    end = 0
    for found in _ESCAPES.finditer(view.text):
        parts.append(view.text[end : found.start()])
        starts.extend(view.starts[end : found.start()])
        hexadecimal, decimal, escaped = found.groups()
        if escaped:
            parts.append(_WHITE_SPACE.get(escaped, escaped))
        else:
            parts.append(chr(int(hexadecimal, 16) if hexadecimal else int(decimal)))
        starts.append(view.starts[found.start()])
        end = found.end()
    parts.append(view.text[end:])
    starts.extend(view.starts[end:])
    return _View("".join(parts), starts)


def _replace(text: str, hidden: bytearray) -> str:
    out: list[str] = []
    at = 0
    while at < len(text):
        start = hidden.find(1, at)
        if start < 0:
            out.append(text[at:])
            break
        out += (text[at:start], "…")
        at = hidden.find(0, start)
    return "".join(out)


def masked_text(text: str, secrets: Sequence[str]) -> str:
    """Mask a text."""
    shown: Any = mask(text, secrets, "…")
    return str(shown)
