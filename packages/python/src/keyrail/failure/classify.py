"""Finds the kind of a failure by the table that both languages share."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from .data_text import data_text
from .facts import Facts
from .kinds import FailureKind

_MOST_TEXT = 4_000


@dataclass(slots=True)
class _Rule:
    kind: FailureKind
    numbers: list[tuple[str, frozenset[int]]]
    patterns: list[tuple[str, re.Pattern[str]]]
    phrases: list[str]
    batch: bool | None


def _pattern(source: str) -> re.Pattern[str]:
    # As JavaScript reads it: '$' is the very end, and \w, \d, \b and case mean ASCII.
    return re.compile(re.sub(r"(?<!\\)\$", r"\\Z", source), re.IGNORECASE | re.ASCII)


def _words_in(text: str) -> str:
    """Give a text in lower case, with one space around each of its words."""
    return f" {re.sub('[^a-z0-9_]+', ' ', text.lower())} "


def _read(sections: list[dict[str, Any]]) -> list[_Rule]:
    return [
        _Rule(
            kind=rule["kind"],
            numbers=[(name, frozenset(rule["when"][name])) for name in ("status", "code") if name in rule["when"]],
            patterns=[(name, _pattern(want)) for name, want in rule["when"].items() if isinstance(want, str)],
            phrases=[f" {phrase} " for phrase in rule["when"].get("phrases", [])],
            batch=rule["when"].get("batch"),
        )
        for section in sections
        for rule in section["rules"]
    ]


_RULES = _read(json.loads(files(__package__).joinpath("classification.json").read_text("utf-8")))


def classify(facts: Facts, method: str) -> FailureKind | None:
    """Find the kind of the first rule that holds for a failure; None where none holds.

    Args:
        facts: What is known of the failure.
        method: The method of the call.

    """
    rpc_error = facts.rpc_error or {}
    data = rpc_error.get("data")
    reason = data.get("reason") if isinstance(data, dict) else None
    text = f"{facts.text}\n{data_text(facts.rpc_error)}"[:_MOST_TEXT]
    words = _words_in(text)
    texts = {
        "reason": reason if isinstance(reason, str) else "",
        "method": method,
        "source": "http" if facts.rpc_error is None else "rpc",
        "text": text,
    }
    numbers = {"status": facts.status, "code": rpc_error.get("code")}
    for rule in _RULES:
        if (
            (rule.batch is None or rule.batch == facts.batch)
            and all(numbers[name] in want for name, want in rule.numbers)
            and all(want.search(texts[name]) for name, want in rule.patterns)
            and (not rule.phrases or any(phrase in words for phrase in rule.phrases))
        ):
            return rule.kind
    return None
