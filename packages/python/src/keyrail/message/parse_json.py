"""Parses responses as strict JSON. A hostile or broken server cannot crash the interpreter."""

from __future__ import annotations

import json
import math
import re
from itertools import accumulate
from typing import Any

MAX_DEPTH = 2_500
"""The maximum depth of arrays and objects in a response. A callTracer result nests twice per call: 2,049 levels for 1,024 calls."""

# Python's decoder is recursive and takes about 150 bytes of stack for each level. Some packages raise the recursion limit (py_ecc,
# which web3.py imports, to 100,000). Then a deep response overflows the stack and kills the process. 500 levels fit on any thread.
_MAX_RECURSION = 500
_CHUNK = 2**20
_PIECE = 2**16
_BACKSLASHES = re.compile(r"\\+")
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NOT_OUTLINE = bytes(set(range(256)) - {*_STEPS, ord('"')})
# Each removes one or two levels.
_MAX_REMOVALS = 8
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


def _reject_constant(name: str) -> Any:
    raise UnreadableJson(f"the response contains {name}, which is not valid JSON")


def _parse_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise UnreadableJson(f"the response contains the number {digits[:40]}, which is too large for a float")
    return number


_decode = json.JSONDecoder(parse_constant=_reject_constant, parse_float=_parse_float).decode


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
    depth = _measure_depth(text)
    if depth > MAX_DEPTH:
        raise UnreadableJson(f"the response nests deeper than {MAX_DEPTH} levels")
    try:
        if depth <= _MAX_RECURSION:
            try:
                return _decode(text)
            except RecursionError:
                pass  # The caller left too few levels.
        return _parse_without_recursion(text)
    except UnreadableJson:
        raise
    except ValueError:
        raise UnreadableJson from None


def _measure_depth(text: str) -> int:
    """Return an upper bound of the number of levels of arrays and objects in the part of a text that is valid JSON.

    It is the exact number if it is above 500 and at most 2,500. Takes time linear in the length of the text.
    """
    if len(text) <= _MAX_RECURSION:
        return len(text)
    brackets = _remove_strings(_get_outline(text))
    # Most responses are wide, not deep: after the empty containers are removed a few times, little is left.
    rest = brackets
    for _ in range(_MAX_REMOVALS):
        rest = rest.replace(b"[]", b"").replace(b"{}", b"")
    depth = 2 * _MAX_REMOVALS + rest.count(b"[") + rest.count(b"{")
    return depth if depth <= _MAX_RECURSION else _count_levels(brackets)


def _get_outline(text: str) -> bytes:
    """Return the brackets and quotes of a text."""
    parts: list[bytes] = []
    start = 0
    # In pieces, because a copy of the whole text would not fit into the cache of the processor.
    while start < len(text):
        end = start + _PIECE
        if text[end - 1 : end] == "\\":
            # The character after a backslash belongs to it.
            end = _BACKSLASHES.match(text, end - 1).end() + 1  # type: ignore[union-attr]
        data = text[start:end].encode("utf-8", "replace")
        if b"\\" in data:
            # After this, every quote starts or ends a string.
            data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
        # Two quotes in a row, such as those of a string without brackets, do not change which brackets are inside of strings.
        parts.append(data.translate(None, _NOT_OUTLINE).replace(b'""', b""))
        start = end
    return b"".join(parts)


def _remove_strings(outline: bytes) -> bytes:
    """Remove all strings from a text of brackets and quotes."""
    outside: list[bytes] = []
    in_string = False
    # In chunks, because the list of parts takes much more memory than the text.
    for start in range(0, len(outline), _CHUNK):
        parts = outline[start : start + _CHUNK].split(b'"')
        outside.append(b"".join(parts[in_string::2]))
        in_string ^= len(parts) % 2 == 0
    return b"".join(outside)


def _count_levels(brackets: bytes) -> int:
    """Return the exact number of levels, or any number above the maximum."""
    deepest = depth = 0
    # In chunks, because the list of levels takes much more memory than the brackets.
    for start in range(0, len(brackets), _CHUNK):
        levels = list(accumulate(map(_STEPS.__getitem__, brackets[start : start + _CHUNK]), initial=depth))
        deepest = max(deepest, max(levels))
        depth = levels[-1]
        if deepest > MAX_DEPTH:
            break
    return deepest


def _parse_without_recursion(text: str) -> Any:
    """Parse with a list of the open containers in place of the call stack. Slower, so only for deep responses."""
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
            key = _decode(part)
            expected = "colon"
        elif expected == "value" or (expected == "first" and not in_object):
            value: Any = {} if part == "{" else [] if part == "[" else _decode(part)
            if in_object:
                container[key] = value
            else:
                container.append(value)
            if part in ("{", "["):
                containers.append(value)
                expected = "first"
            else:
                expected = "end"
        else:
            raise UnreadableJson
    if expected != "end" or len(containers) > 1:
        raise UnreadableJson
    return whole[0]
