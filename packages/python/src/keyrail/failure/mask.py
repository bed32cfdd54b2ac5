"""Masks secrets in texts and JSON values."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase
from typing import Any, TypeAlias, TypeVar

from .to_json import to_json

T = TypeVar("T")

_MAX_TEXT_LENGTH = 65_536
# The shortest part of a secret that is hidden.
_RUN = 8
# The base64 digits that depend on 8 bytes alone: at every alignment, 64 bits hold at least 10 of them.
_BASE64_RUN = 10
# Shorter secrets are masked in plain form only: any two or three characters of hex or base64 occur in every text.
_SHORTEST_ENCODED = 4
_MAX_ROUNDS = 3
# %6b, &#x6b; and &#107;, \u006b and \x6b, \n and \", with any number of backslashes.
_ESCAPES = re.compile(r"(?:%|&#x|\\+(?:u00|x))([\da-f]{2});?|&#(\d{2,3});|\\+([\s\S])", re.IGNORECASE | re.ASCII)
_WHITE_SPACE = dict.fromkeys("bfnrt", " ")


def mask(value: T, secrets: Sequence[str], otherwise: T) -> T:
    """Replace each run of 8 or more characters of a secret (all of it, if it is shorter) by '…'.

    Finds it in any letter case, with other characters between its letters and digits, behind percent escapes, JSON escapes and
    numeric HTML entities up to three levels deep, and as part of a text in hex, base64 or base64url. Masks every text in lists
    and dicts, including keys, and numbers. Leaves the rest unchanged. Takes time linear in the length of the value.

    Args:
        value: A text or a JSON value.
        secrets: The secrets, in the form in which a URL or header contains them.
        otherwise: The result if the masked value would not be JSON (because a number was masked), or if the value is longer than
            64 KiB of JSON or nests deeper than 1,000 levels.

    Example:
        >>> mask("no app for notARealKey", ["notARealKey"], "…")
        'no app for …'

    """
    text = to_json(value)
    if text is None or len(text) > _MAX_TEXT_LENGTH:
        return otherwise
    hidden = bytearray(len(text) + 1)
    # A secret may contain a '%', so the text is searched before and after each decoding.
    view = _View(text, range(len(text) + 1))
    for _ in range(_MAX_ROUNDS + 1):
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
    """A text with some of its escapes decoded."""

    text: str
    starts: Sequence[int]
    """The positions of its characters, and of its end, in the original text."""


@dataclass(slots=True, frozen=True, eq=False)
class _Reading:
    """A way to read a text: it ignores some characters and treats others as equal."""

    ignored: re.Pattern[str]
    same: dict[int, int]

    def read(self, text: str) -> str:
        return self.ignored.sub("", text).translate(self.same)

    def places(self, text: str) -> list[int]:
        """Return the position in the text of each character of the reading."""
        return [at for at, char in enumerate(text) if not self.ignored.match(char)]


_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_EXACT = _Reading(re.compile(r"(?!)"), _LOWER)
_ALPHANUMERIC = _Reading(re.compile(r"[^a-z\d]+", re.IGNORECASE | re.ASCII), _LOWER)
_BASE64 = _Reading(re.compile(r"[^a-z\d+/_-]+", re.IGNORECASE | re.ASCII), str.maketrans("-_", "+/"))

_Runs: TypeAlias = "dict[tuple[_Reading, int], set[str]]"
"""The runs of characters to mask, by reading and length."""


# Cached, because every failure masks the same key, and a JSON Web Token has thousands of runs.
@lru_cache(maxsize=64)
def _get_runs(secret: str) -> _Runs:
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
        # The digits at both ends also depend on the bytes before and after.
        first, end = (8 * before + 5) // 6, 8 * (before + len(data)) // 6
        digits = b64encode(bytes(before) + data).decode()[first:end]
        add(_BASE64, digits, min(len(digits), _BASE64_RUN))
    return found


def _hide(view: _View, secrets: Sequence[str], hidden: bytearray) -> None:
    by_form: dict[tuple[_Reading, int], list[set[str]]] = {}
    for secret in set(secrets):
        for form, runs in _get_runs(secret).items():
            by_form.setdefault(form, []).append(runs)
    for (reading, length), each in by_form.items():
        read_text = reading.read(view.text)
        parts = {read_text[at : at + length] for at in range(len(read_text) - length + 1)}
        found = {part for runs in each for part in parts & runs}
        if not found:
            continue
        places = reading.places(view.text)
        for at in range(len(read_text) - length + 1):
            if read_text[at : at + length] in found:
                start, end = view.starts[places[at]], view.starts[places[at + length - 1] + 1]
                hidden[start:end] = b"\1" * (end - start)


def _decode(view: _View) -> _View:
    """Decode one level of escapes."""
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


def mask_text(text: str, secrets: Sequence[str]) -> str:
    """Mask a text."""
    masked: Any = mask(text, secrets, "…")
    return str(masked)
