"""Reads the range and the filter of an iteration over logs: everything that web3.py accepts, and addresses in lower case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from eth_utils.address import is_address, is_checksum_address, is_checksum_formatted_address, to_checksum_address

from ..failure.check import check, describe

_TAGS = ("latest", "safe", "finalized", "earliest")
_MAX_TAG_LENGTH = 12
_MAX_TOPICS = 4


def parse_block(name: str, value: Any) -> int | str:
    """Convert a block to a number or a tag.

    Args:
        name: The name of the option.
        value: A number, a number in hex such as "0x10", or a tag.

    Raises:
        KeyrailError: With kind ``invalidRequest``.

    """
    if isinstance(value, str) and re.fullmatch(r"0x[\da-f]{1,16}", value, re.ASCII | re.IGNORECASE):
        return int(value, 16)
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    check(
        is_number or value in _TAGS,
        f'{name} must be a block number, also in hex as "0x10", or one of {", ".join(_TAGS)}, not {_describe_block(value)}.',
    )
    block: int | str = value
    return block


def parse_addresses(value: Any) -> str | list[str] | None:
    """Convert addresses to the form that web3.py accepts, with a checksum. A single ENS name is left to web3.py.

    Args:
        value: An address, or a list of addresses, each as 20 bytes or in hex.

    Raises:
        KeyrailError: With kind ``invalidRequest``.

    """
    if value is None or (isinstance(value, str) and "." in value):
        return value
    return (
        _parse_address(value) if isinstance(value, (str, bytes)) else [_parse_address(one) for one in _to_list(value)]
    )


def parse_topics(value: Any, topic0: str | None) -> list[Any] | None:
    """Convert topics to hex.

    Args:
        value: The topics of the filter: each is 32 bytes, hex, None for any, or a list of alternatives.
        topic0: The first topic, if it is known from an event.

    Raises:
        KeyrailError: With kind ``invalidRequest``.

    """
    if value is None:
        return None if topic0 is None else [topic0]
    check(
        isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and len(value) <= _MAX_TOPICS,
        f"topics must be a list of at most {_MAX_TOPICS} topics, not {describe(value)}.",
    )
    topics = [[_to_hex(each) for each in one] if isinstance(one, (list, tuple)) else _to_hex(one) for one in value]
    if topic0 is None:
        return topics
    check(not topics or topics[0] is None, "With event, the first of topics must be None: it is the hash of the event.")
    return [topic0, *topics[1:]]


def _to_hex(topic: Any) -> Any:
    return f"0x{bytes(topic).hex()}" if isinstance(topic, (bytes, bytearray)) else topic


def _to_list(value: Any) -> list[Any]:
    check(isinstance(value, Sequence), f"address must be an address or a list of addresses, not {describe(value)}.")
    return list(value)


def _parse_address(value: Any) -> str:
    check(
        is_address(value) and not (is_checksum_formatted_address(value) and not is_checksum_address(value)),
        "address must be 20 bytes in hex, as 0x and 40 digits. If it has upper and lower case, its checksum must be correct."
        if isinstance(value, str)
        else f"address must be 20 bytes, not {describe(value)}.",
    )
    return str(to_checksum_address(value))


def _describe_block(value: Any) -> str:
    # Longer strings may be misplaced secrets.
    return f'"{value}"' if isinstance(value, str) and len(value) <= _MAX_TAG_LENGTH else describe(value)
