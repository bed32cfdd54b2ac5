"""Parses responses as strict JSON. A hostile or broken server cannot crash the interpreter."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from pydantic_core import from_json

MAX_DEPTH = 2_500
"""The maximum depth of arrays and objects in a response. A callTracer result nests twice per call: 2,049 levels for 1,024 calls."""

# pydantic_core, which needs no recursion of Python, stops at 200 levels. It also rejects half a surrogate pair, which servers that are
# written in JavaScript send as an escape.
_STOPPED = ("recursion limit exceeded", "hex escape")
# A string, a bracket, a colon, a comma, another scalar, or a quote that opens a string without an end.
_PARTS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}:,]|[^ \t\r\n"\[\]{}:,]+|"', re.DOTALL)


class UnreadableJson(ValueError):
    """The text is not JSON.

    Attributes:
        reason: A description of the problem. None if the text itself says more, such as the HTML page of a proxy.

    """

    def __init__(self, reason: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason


def parse_json(text: str) -> Any:
    """Parse a response.

    Args:
        text: The body of the response, of any size and depth.

    Raises:
        UnreadableJson: If it is not JSON (RFC 8259), contains NaN, Infinity or a number too large for a float, or nests deeper
            than 2,500 levels.

    Example:
        >>> parse_json('{"id": 1, "result": "0x1"}')
        {'id': 1, 'result': '0x1'}

    """
    try:
        value = _parse(text)
    except UnreadableJson:
        raise
    except ValueError:
        raise UnreadableJson from None
    if not _is_finite(value):
        raise UnreadableJson("the response contains NaN, Infinity or a number that is too large for a float")
    return value


def _parse(text: str) -> Any:
    try:
        return from_json(text, cache_strings="keys")
    except ValueError as error:
        reason = str(error)
    if not any(one in reason for one in _STOPPED):
        raise UnreadableJson
    return _parse_without_recursion(text)


def _is_finite(value: Any) -> bool:
    """Check all numbers. Both parsers read NaN, and Infinity for a number that is too large."""
    containers = [(value,)]
    # The list grows while it is read.
    for container in containers:
        for one in container.values() if isinstance(container, dict) else container:
            kind = type(one)
            if kind is dict or kind is list:
                containers.append(one)
            elif kind is float and not math.isfinite(one):
                return False
    return True


def _parse_without_recursion(text: str) -> Any:
    """Parse with a list of the open containers in place of the call stack. Slower, so only for what pydantic_core stops at."""
    whole: list[Any] = []
    containers: list[Any] = [whole]
    key = ""
    # The next part: "value", "key", "colon", "end" (a comma or a closing bracket), or "first" (an entry or a closing bracket).
    expected = "value"
    for found in _PARTS.finditer(text):
        part = found[0]
        container = containers[-1]
        in_object = isinstance(container, dict)
        if part == ":" and expected == "colon":
            expected = "value"
        elif part == "," and expected == "end" and len(containers) > 1:
            expected = "key" if in_object else "value"
        elif part == ("}" if in_object else "]") and expected in ("end", "first") and len(containers) > 1:
            containers.pop()
            expected = "end"
        elif part[0] == '"' and in_object and expected in ("key", "first"):
            key = json.loads(part)
            expected = "colon"
        elif expected == "value" or (expected == "first" and not in_object):
            value: Any = {} if part == "{" else [] if part == "[" else json.loads(part)
            if in_object:
                container[key] = value
            else:
                container.append(value)
            if part in ("{", "["):
                containers.append(value)
                expected = "first"
                if len(containers) > MAX_DEPTH + 1:
                    raise UnreadableJson(f"the response nests deeper than {MAX_DEPTH} levels")
            else:
                expected = "end"
        else:
            raise UnreadableJson
    if expected != "end" or len(containers) > 1:
        raise UnreadableJson
    return whole[0]
