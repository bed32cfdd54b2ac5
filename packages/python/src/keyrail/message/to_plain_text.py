"""Shortens a server's text for an error message."""

import re

_MAX_TEXT_LENGTH = 2_000


def to_plain_text(text: str) -> str:
    """Return a text on one line: of an HTML page its title, or else its text without tags. Reads the first 2,000 characters only."""
    start = text[:_MAX_TEXT_LENGTH]
    if re.match(r"\s*<", start):
        title = re.search(r"<title[^<>]*>([^<]+)", start, re.IGNORECASE)
        start = title[1] if title else re.sub(r"<[^<>]*>", " ", start)
    return re.sub(r"\s+", " ", start).strip()
