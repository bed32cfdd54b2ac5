"""Finds the kind of a failure with the rules in classification.json, which the TypeScript packages use too."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ..methods import find_methods
from .error_data import get_error_text
from .facts import Facts
from .kinds import FailureKind
from .phrase import Phrase, compile_phrase, to_words, words_contain

_MAX_TEXT_LENGTH = 4_000
_REVERT_DATA = re.compile(r"(?:reverted )?0x[\da-f]{8}", re.IGNORECASE | re.ASCII)


@dataclass(slots=True)
class _Rule:
    kind: FailureKind
    when: dict[str, Any]
    phrases: list[Phrase]


_TABLE: dict[str, Any] = json.loads(files(__package__).joinpath("classification.json").read_text("utf-8"))
_METHODS = {
    "write": find_methods("access", "write"),
    "call": find_methods("runs", True),
    "logs": find_methods("searches", True),
}


@cache
def _get_rules() -> list[_Rule]:
    # Compiled for the first failure: an import takes a tenth less CPU time.
    return [
        _Rule(rule["kind"], rule["when"], [compile_phrase(phrase) for phrase in rule["when"].get("phrases", [])])
        for section in _TABLE["sections"]
        for rule in section["rules"]
    ]


def classify(facts: Facts, method: str) -> FailureKind | None:
    """Find the kind of the first rule that is true for a failure; None if none is true.

    Args:
        facts: What is known about the failure.
        method: The JSON-RPC method of the call.

    """
    rpc_error = facts.rpc_error or {}
    data = rpc_error.get("data")
    members = data if isinstance(data, dict) else {}
    words = to_words(f"{facts.text}\n{get_error_text(facts.rpc_error)}"[:_MAX_TEXT_LENGTH], method)
    properties = {
        "reason": members.get("reason"),
        "status": facts.status,
        "code": rpc_error.get("code"),
        "batch": facts.batch,
        "source": "http" if facts.rpc_error is None else "rpc",
        "revertData": _is_revert_data(data) or _is_revert_data(members.get("data")),
    }
    for rule in _get_rules():
        if all(_is_true(name, wanted, properties, method) for name, wanted in rule.when.items()) and (
            not rule.phrases or any(words_contain(words, phrase) for phrase in rule.phrases)
        ):
            return rule.kind
    return None


def _is_true(name: str, wanted: Any, properties: dict[str, Any], method: str) -> bool:
    if name == "phrases":
        return True
    if name == "method":
        return method not in _METHODS["write"] if wanted == "read" else method in _METHODS[wanted]
    return properties[name] in wanted if isinstance(wanted, list) else bool(properties[name] == wanted)


def _is_revert_data(data: Any) -> bool:
    """Check whether data starts with the four bytes of an error's selector."""
    return isinstance(data, str) and _REVERT_DATA.match(data) is not None
