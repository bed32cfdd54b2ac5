"""Phrases of ``classification.json``. The same rules as in TypeScript: ``packages/core/src/failure/phrase.ts``."""

from __future__ import annotations

import re
from collections.abc import Sequence

# One element: the stems of the words that can appear here, or None for a gap.
Phrase = Sequence[frozenset[str] | None]

_MAX_GAP = 6
_MAX_WORD_LENGTH = 24

_STEM = re.compile(r"^(.{3,}?)(?:s|ed|e|ing)+$")
_NEGATION = re.compile(r"n['’]t\b|\Bnot\b", re.IGNORECASE | re.ASCII)
_APOSTROPHE_OR_METHOD = re.compile(r"['’`]|\b[a-z\d]+_[a-z]+[A-Z]\w*", re.ASCII)
_JOINED = re.compile(r"[a-z](?=[A-Z])|[A-Z](?=[A-Z][a-z]{2})", re.ASCII)
_PART = re.compile(r"[a-z]+|\d[\da-z]*|[.;!?](?=\s|$)|\n", re.ASCII)


def _stem(word: str) -> str:
    return word if len(word) > _MAX_WORD_LENGTH else _STEM.sub(r"\1", word)


def to_words(text: str, method: str) -> list[str]:
    """Divide a text into words: lower case, without apostrophes, reduced to their stems.

    ``#`` is a number, ``.`` the start or end of a sentence. Names of JSON-RPC methods are left out.

    Args:
        text: What a server wrote.
        method: The method of the call.

    """
    if method:
        text = text.replace(method, " ")
    text = _APOSTROPHE_OR_METHOD.sub("", _NEGATION.sub(" not", text))
    text = _JOINED.sub(r"\g<0> ", text).lower()
    words = ["."]
    for part in [*_PART.findall(text), "."]:
        word = _stem(part) if "a" <= part[0] <= "z" else "#" if part[0].isdigit() else "."
        if word not in ("#", ".") or words[-1] != word:
            words.append(word)
    return words


def compile_phrase(phrase: str) -> Phrase:
    """Compile a phrase: ``a/b`` is either word, ``*`` up to six words, ``#`` a number, ``.`` the edge of a sentence."""
    return [
        None if element == "*" else frozenset("#" if word[0].isdigit() else _stem(word) for word in element.split("/"))
        for element in phrase.split(" ")
    ]


def words_contain(words: Sequence[str], phrase: Phrase) -> bool:
    """Check whether a phrase occurs in a text."""
    return any(_matches_at(words, phrase, start, 0) for start in range(len(words)))


def _matches_at(words: Sequence[str], phrase: Phrase, at: int, index: int) -> bool:
    if index == len(phrase):
        return True
    stems = phrase[index]
    if stems is not None:
        return at < len(words) and words[at] in stems and _matches_at(words, phrase, at + 1, index + 1)
    for here in range(at, at + _MAX_GAP + 1):
        if _matches_at(words, phrase, here, index + 1):
            return True
        if here >= len(words) or words[here] == ".":
            return False
    return False
