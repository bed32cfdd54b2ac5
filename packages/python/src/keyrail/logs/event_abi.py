"""Events by their ABI: from an item of a JSON ABI, or from a signature as in Solidity."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from eth_abi.abi import default_codec
from eth_utils.crypto import keccak

from ..failure.check import check, describe, invalid
from ..failure.error import KeyrailError

EventInput: TypeAlias = "str | Mapping[str, Any]"
"""A signature such as ``"Transfer(address indexed from, address indexed to, uint256 value)"``, or the item of a JSON ABI."""

_EXAMPLE = '"Transfer(address indexed from, address indexed to, uint256 value)"'


@dataclass(slots=True, frozen=True)
class AbiParameter:
    """A parameter of an event, or a member of a struct."""

    name: str
    type: str
    """The canonical type, such as ``(uint256,address)[]`` for a list of structs."""
    indexed: bool = False
    members: tuple[AbiParameter, ...] = ()
    """The members, if it is a struct or an array of structs."""


@dataclass(slots=True, frozen=True)
class EventAbi:
    """An event."""

    name: str
    parameters: tuple[AbiParameter, ...]
    anonymous: bool = False

    @property
    def signature(self) -> str:
        """The canonical signature, whose hash is the first topic."""
        return f"{self.name}({','.join(one.type for one in self.parameters)})"

    @property
    def topic(self) -> str | None:
        """The first topic; None if the event is anonymous."""
        return None if self.anonymous else f"0x{keccak(text=self.signature).hex()}"


def parse_event(event: Any) -> EventAbi:
    """Convert an event to its ABI.

    Args:
        event: A signature as in Solidity, or an item of a JSON ABI with ``"type": "event"``.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if it cannot be parsed.

    """
    if isinstance(event, Mapping):
        check(
            event.get("type") == "event" and isinstance(event.get("name"), str),
            'event must be an item of an ABI with the type "event" and a name.',
        )
        inputs = event.get("inputs", [])
        parsed = EventAbi(event["name"], tuple(parse_item(one) for one in inputs), bool(event.get("anonymous")))
    else:
        check(isinstance(event, str), f"event must be a signature or an item of an ABI, not {describe(event)}.")
        found = re.fullmatch(r"\s*(?:event\s+)?([A-Za-z_$][\w$]*)\s*\((.*)\)\s*(anonymous)?\s*;?\s*", event, re.DOTALL)
        if found is None:
            raise _create_error("cannot be parsed")
        name, parameters, anonymous = found.groups()
        parsed = EventAbi(name, tuple(_parse_text(one) for one in _split(parameters)), anonymous is not None)
    indexed = sum(one.indexed for one in parsed.parameters)
    most = 4 if parsed.anonymous else 3
    check(indexed <= most, f"event has {indexed} indexed parameters. An event can have {most}.")
    return parsed


def _create_error(problem: str) -> KeyrailError:
    return invalid(f"event {problem}. Pass a signature such as {_EXAMPLE}, or an item of an ABI.")


def _create(name: str, base: str, arrays: str, indexed: bool, members: tuple[AbiParameter, ...]) -> AbiParameter:
    if members or base == "()":
        base = f"({','.join(one.type for one in members)})"
    kind = {"uint": "uint256", "int": "int256"}.get(base, base) + arrays
    if not default_codec.is_encodable_type(kind):
        raise _create_error(f"has a parameter of an unknown type: {kind[:40]}" if kind else "has an empty parameter")
    return AbiParameter(name, kind, indexed, members)


def parse_item(item: Any) -> AbiParameter:
    """Convert a parameter of a JSON ABI."""
    if not isinstance(item, Mapping) or not isinstance(item.get("type"), str):
        raise _create_error("has a parameter without a type")
    base, arrays = re.fullmatch(r"([^\[]*)(.*)", item["type"], re.DOTALL).groups()  # type: ignore[union-attr]
    members = tuple(parse_item(one) for one in item.get("components", ())) if base == "tuple" else ()
    return _create(str(item.get("name") or ""), base, arrays, item.get("indexed") is True, members)


def _parse_text(text: str) -> AbiParameter:
    """Convert a parameter of a signature."""
    found = re.fullmatch(
        r"\s*(?:(?:tuple\s*)?\((.*)\)|(\w+))((?:\[\d*\])*)(?:\s+payable)?(\s+indexed)?(?:\s+([A-Za-z_$][\w$]*))?\s*",
        text,
        re.DOTALL,
    )
    if found is None:
        raise _create_error("has a parameter that cannot be parsed" if text.strip() else "has an empty parameter")
    inner, base, arrays, indexed, name = found.groups()
    members = tuple(_parse_text(one) for one in _split(inner)) if inner is not None else ()
    return _create(name or "", base or "()", arrays, indexed is not None, members)


def _split(parameters: str) -> list[str]:
    """Split a list at the commas outside of parentheses."""
    parts = [""]
    depth = 0
    for letter in parameters:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts if parameters.strip() else []
