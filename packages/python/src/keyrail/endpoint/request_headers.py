"""Checks the extra headers of requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..failure.check import check, describe

# Headers that the HTTP clients set themselves, and those that describe the connection or the body. RFC 9110 and RFC 9112.
_RESERVED = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
# A token: RFC 9110 section 5.6.2.
_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
# Printable ASCII, spaces and tabs: RFC 9110 section 5.5.
_VALUE = re.compile(r"[\t\x20-\x7e]+")
# Longer names are not shown: they may be a misplaced secret.
_MAX_SHOWN_LENGTH = 31
# Shorter values are not masked: they would also hide common words and numbers.
_MIN_MASKED_LENGTH = 8


def check_request_headers(given: Any, authorized_by: str | None) -> dict[str, str]:
    """Check extra request headers and copy them, with their names in lower case.

    Args:
        given: The option's value, or what its function returned.
        authorized_by: What else sets ``authorization``; None if nothing does.

    Raises:
        KeyrailError: With kind ``invalidRequest``. The message names the header and does not show a value.

    """
    check(isinstance(given, Mapping), f'headers must be a dict such as {{"x-team": "wallet"}}, not {describe(given)}.')
    headers: dict[str, str] = {}
    for name, value in given.items():
        check(
            isinstance(name, str) and _NAME.fullmatch(name),
            'headers contains a name with characters that HTTP does not allow. Use letters, digits and "-".',
        )
        key = name.lower()
        shown = "…" if len(name) > _MAX_SHOWN_LENGTH else name
        check(key not in _RESERVED, f'headers contains "{key}", which the HTTP client sets. Remove it.')
        check(
            key != "authorization" or not authorized_by,
            f'headers contains "authorization", which {authorized_by} sets too. Remove one of them.',
        )
        check(key not in headers, f'headers contains "{shown}" twice, in different letter case. Remove one.')
        check(
            isinstance(value, str) and value.strip(),
            f'The header "{shown}" must be a string that is not empty. '
            "If it comes from an environment variable, check that it is set.",
        )
        check(
            _VALUE.fullmatch(value),
            f'The header "{shown}" contains a line break or another character that HTTP does not allow. '
            "Copy its value again.",
        )
        # A member of an enum of strings is formatted as its name.
        headers[key] = str.__str__(value)
    return headers


def find_header_secrets(headers: Mapping[str, str]) -> list[str]:
    """Return the parts of header values to mask wherever a server repeats them: a scheme such as Bearer is apart from its token."""
    secrets: list[str] = []
    for value in headers.values():
        parts = [part for part in re.split(r'[\s"\\]+', value) if len(part) >= _MIN_MASKED_LENGTH]
        secrets += parts or ([value] if len(value) >= _MIN_MASKED_LENGTH else [])
    return secrets
