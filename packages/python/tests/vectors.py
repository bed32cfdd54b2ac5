"""The cases that both languages share: packages/vectors."""

import json
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).resolve().parents[2]


def read_vectors(name: str) -> Any:
    return json.loads((TOP / "vectors" / name).read_text("utf-8"))


def select_python(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [case for case in cases if "python" in case["appliesTo"]]


def to_params(cases: list[dict[str, Any]]) -> list[Any]:
    """Convert cases to pytest parameters with the mark ``vector``: see conftest.py."""
    return [pytest.param(case, id=case["name"], marks=pytest.mark.vector) for case in select_python(cases)]
