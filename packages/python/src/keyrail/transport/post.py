"""What one HTTP request is, whichever library makes it."""

from __future__ import annotations

import json
import os
import re
import socket
import ssl
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from ..address.open_address import OpenAddress
from ..failure.check import invalid
from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError
from ..failure.facts import Facts
from ..message.answer import Answer, Result
from ..message.read_answer import read_answer
from ..message.read_batch_answer import read_batch_answer
from ..message.wrong_chain import wrong_chain
from .batch_limit import batch_limit
from .steps import Attempt, Call, Outcome, Told

TOO_LARGE = "the answer is larger than max_response_bytes"
CUT = "the connection broke in the middle of the answer"
BROKEN = "the connection broke before an answer came"
GZIP = "gzip"


def body_of(calls: Sequence[Call], first: int) -> bytes:
    """Write the body: a call, or a batch with ids that follow on one another."""
    methods = {method: json.dumps(method) for method in {call.method for call in calls}}
    texts = [
        f'{{"jsonrpc":"2.0","id":{first + at},"method":{methods[call.method]},"params":{call.params}}}'
        for at, call in enumerate(calls)
    ]
    return (texts[0] if len(texts) == 1 else f"[{','.join(texts)}]").encode("utf-8", "replace")


def target_of(url: str) -> tuple[str, str]:
    """Take a URL apart into its origin and the target of the request."""
    found = re.fullmatch(r"(https?://[^/?#]+)([^#]*)(?:#.*)?", url, re.IGNORECASE | re.DOTALL)
    if found is None:
        raise invalid("the address is no URL")
    path = quote(found[2], safe="/?&=%:;,+$!*'()@~[]|^{}\"<>`")
    return found[1], path if path.startswith("/") else "/" + path


def text_of(data: bytes) -> str:
    """Decode a body."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def words_of(error: BaseException) -> str:
    """Say of an error below what the system said, and nothing that a library put around it: that may hold the address."""
    seen = 0
    inner: Any = error
    while isinstance(inner, BaseException) and seen < 8:
        # aiohttp has errors of TLS of its own, around those of Python.
        inner = getattr(inner, "certificate_error", inner)
        if isinstance(inner, ssl.SSLError):
            said = getattr(inner, "verify_message", None) or getattr(inner, "reason", None)
            return f"TLS failed: {said if isinstance(said, str) else 'no reason was given'}"
        if isinstance(inner, socket.gaierror):
            return str(inner.strerror)
        # A library words an error of the system in its own way, with the address.
        if isinstance(inner, OSError) and inner.errno:
            return os.strerror(inner.errno)
        held = [one for one in (getattr(inner, "reason", None), *inner.args) if isinstance(one, BaseException)]
        inner = inner.__cause__ or (held[0] if held else inner.__context__)
        seen += 1
    return BROKEN


def told_of(read: Answer | Facts, attempt: Attempt, first: int, address: OpenAddress, chain_id: int | None) -> Told:
    """Judge what came back, mask it, and give the outcomes.

    Args:
        read: The answer, or how the request failed.
        attempt: What was asked.
        first: The id of the first call.
        address: The address, with its secrets.
        chain_id: The chain that the answer must come from, where one was named.

    """
    calls = attempt.calls
    is_batch = len(calls) > 1
    whole = False
    reads: list[Result | Facts]
    if isinstance(read, Facts):
        if read.kind == "timeout":
            read = replace(read, text=f"no answer within {attempt.limit_ms:.0f} ms")
        reads = [replace(read, batch=is_batch)] * len(calls)
    elif is_batch:
        paired = read_batch_answer(read, first, len(calls))
        whole = isinstance(paired, Facts)
        reads = [paired] * len(calls) if isinstance(paired, Facts) else paired
    else:
        reads = [read_answer(read, first)]
    header = read.headers.get("x-chain-id") if isinstance(read, Answer) else None
    outcomes: list[Outcome] = []
    limits: list[int | None] = []
    blames_batch = False
    for call, one in zip(calls, reads, strict=True):
        limit = None
        if isinstance(one, Result):
            one = wrong_chain(chain_id, one.value if call.method == "eth_chainId" else header) or one
        if isinstance(one, Result):
            outcomes.append(one)
        else:
            failure = create_failure(one, method=call.method, label=address.label, secrets=address.secrets)
            outcomes.append(failure)
            if is_batch and failure.kind == "batchTooLarge":
                limit = batch_limit(one.text, len(calls))
                blames_batch = blames_batch or re.search("batch", one.text, re.IGNORECASE) is not None
        limits.append(limit)
    return Told(outcomes=outcomes, whole=whole, limits=limits, blames_batch=blames_batch)


def refused(failure: KeyrailError, attempt: Attempt) -> Told:
    """Let every call of an attempt fail alike: nothing was sent."""
    return Told(outcomes=[failure] * len(attempt.calls))
