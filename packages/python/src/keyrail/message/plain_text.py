"""What a server's text says, on one line."""

import re

_MOST_TEXT = 2_000


def plain_text(text: str) -> str:
    """Give of an HTML page the title, or else what is left without tags; only the first 2,000 characters are looked at."""
    start = text[:_MOST_TEXT]
    if re.match(r"\s*<", start):
        title = re.search(r"<title[^<>]*>([^<]+)", start, re.IGNORECASE)
        start = title[1] if title else re.sub(r"<[^<>]*>", " ", start)
    return re.sub(r"\s+", " ", start).strip()
