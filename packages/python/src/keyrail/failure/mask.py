"""Replaces secrets in something that is about to be shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from .json_text import json_text

T = TypeVar("T")

_LEAST_RUN = 8
_MOST_TEXT = 65_536
_ESCAPES = re.compile(r"%([\da-f]{2})|\\+(?:u00([\da-f]{2})|([\s\S]))", re.IGNORECASE | re.ASCII)


def mask(value: T, secrets: Sequence[str], otherwise: T) -> T:
    """Replace each run of 8 or more characters of a secret (all of it, where it is shorter) by '…'.

    In whatever letter case, also where it stands percent-encoded or JSON-escaped, in every text of lists and dicts, keys
    included, and in numbers. All else stays as it is.

    Args:
        value: A text or a JSON value.
        secrets: What must not be shown, as it stands in a URL or header.
        otherwise: Given back where the rest would be no JSON any more (a number was cut), where the value is longer than
            64 KiB of JSON, and where it is nested more than 1,000 deep.

    """
    try:
        text = json_text(value)
        if text is None or len(text) > _MOST_TEXT:
            return otherwise
        runs = _runs_of(secrets)
        # By what escapes mean, then by the characters as they stand, because a secret may itself hold a '%'.
        if "%" in text or "\\" in text:
            text = _hide(text, *_decode(text), runs)
        masked: T = json.loads(_hide(text, text, range(len(text) + 1), runs))
    except (TypeError, ValueError, RecursionError):
        return otherwise
    return masked


def _decode(text: str) -> tuple[str, Sequence[int]]:
    """Give the text without its escapes, and where each of its characters starts in the text it came from."""
    starts: list[int] = []
    plain: list[str] = []
    end = 0
    for found in _ESCAPES.finditer(text):
        starts.extend(range(end, found.start()))
        plain.append(text[end : found.start()])
        starts.append(found.start())
        plain.append(found[3] or chr(int(found[1] or found[2], 16)))
        end = found.end()
    starts.extend(range(end, len(text) + 1))
    plain.append(text[end:])
    return "".join(plain), starts


def _lower(text: str) -> str:
    # 'İ' is the one character that grows when it is lower-cased.
    return text.replace("İ", "i").lower()


def _runs_of(secrets: Iterable[str]) -> dict[int, set[str]]:
    """Say what to look for, by length: one look at each place of a text is then enough, however many secrets there are."""
    runs: dict[int, set[str]] = {}
    for secret in map(_lower, secrets):
        least = min(len(secret), _LEAST_RUN)
        if least:
            runs.setdefault(least, set()).update(secret[at : at + least] for at in range(len(secret) - least + 1))
    return runs


def _hide(text: str, plain: str, starts: Sequence[int], runs: dict[int, set[str]]) -> str:
    seen = _lower(plain)
    hidden = bytearray(len(seen) + 1)
    for least, held in runs.items():
        for at in range(len(seen) - least + 1):
            if seen[at : at + least] in held:
                hidden[at : at + least] = b"\1" * least
    if 1 not in hidden:
        return text
    out: list[str] = []
    at = 0
    while at < len(seen):
        to = hidden.find(1, at)
        if to < 0:
            to = len(seen)
        out.append(text[starts[at] : starts[to]])
        if to == len(seen):
            break
        out.append("…")
        at = hidden.find(0, to)
    return "".join(out)


def masked_text(text: str, secrets: Sequence[str]) -> str:
    """Mask a text."""
    shown: Any = mask(text, secrets, "…")
    return str(shown)
