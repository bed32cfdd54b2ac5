"""Requests and responses, independent of the HTTP library."""

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

from ..endpoint.create_endpoint import ResolvedEndpoint
from ..failure.check import invalid
from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError
from ..failure.facts import Facts
from ..message.check_chain import find_chain_mismatch
from ..message.read_batch_response import read_batch_response
from ..message.read_response import read_response
from ..message.response import HttpResponse, Result
from ..methods import find_methods
from .parse_batch_limit import parse_batch_limit
from .steps import Attempt, AttemptResult, Call, Outcome

CUT = "the connection was closed in the middle of the response"
BROKEN = "the connection was closed before a response arrived"
NOT_HTTP = "the response is not valid HTTP"
UNREADABLE_BODY = "a body that cannot be read"
UNDECODABLE = "the response cannot be decoded: its content-encoding is not that of its body"
INVALID_URL = "the HTTP library rejected the URL"
GZIP = "gzip"
USER_AGENT = "keyrail-python"
# Their result is a list, so null has no other meaning. Some nodes return it where they have no logs.
_LIST_METHODS = find_methods("null", "list")
KEEP_ALIVE_S = 15
"""How long an idle connection stays open, in seconds."""


def describe_size_limit(max_response_bytes: int) -> str:
    """Describe a response that is too large."""
    return f"the response is larger than max_response_bytes ({max_response_bytes:,}). Raise it, or request less"


def describe_ssl_problem(error: OSError) -> str:
    """Describe why the TLS settings could not be created."""
    return f"the certificates in REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE cannot be read: {describe_error(error)}"


def encode_calls(calls: Sequence[Call], first: int) -> bytes:
    """Write the body: a call, or a batch with consecutive ids."""
    methods = {method: json.dumps(method) for method in {call.method for call in calls}}
    texts = [
        f'{{"jsonrpc":"2.0","id":{first + at},"method":{methods[call.method]},"params":{call.params}}}'
        for at, call in enumerate(calls)
    ]
    return (texts[0] if len(texts) == 1 else f"[{','.join(texts)}]").encode("utf-8", "replace")


def split_url(url: str) -> tuple[str, str]:
    """Split a URL into its origin and the request target."""
    found = re.fullmatch(r"(https?://[^/?#]+)([^#]*)(?:#.*)?", url, re.IGNORECASE | re.DOTALL)
    if found is None:
        raise invalid("The URL is not valid. Check its host and path.")
    path = quote(found[2], safe="/?&=%:;,+$!*'()@~[]|^{}\"<>`")
    return found[1], path if path.startswith("/") else "/" + path


def decode_body(data: bytes | bytearray) -> str:
    """Decode a body."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def describe_error(error: BaseException) -> str:
    """Return the operating system's message for an error. The text of the HTTP library is not shown, because it may contain the URL."""
    depth = 0
    inner: Any = error
    while isinstance(inner, BaseException) and depth < 8:
        if isinstance(inner, ssl.SSLError):
            reason = getattr(inner, "verify_message", None) or getattr(inner, "reason", None)
            if reason == "WRONG_VERSION_NUMBER":
                return "the server responded without TLS: use http, or the port that has TLS"
            return f"TLS failed: {reason if isinstance(reason, str) else 'no reason given'}"
        status = getattr(inner, "status", None)
        if isinstance(status, int):
            return f"the proxy responded with HTTP {status}"
        if isinstance(inner, socket.gaierror):
            return str(inner.strerror)
        # The message of the library may contain the URL, so only the number is used.
        if isinstance(inner, OSError) and inner.errno:
            return os.strerror(inner.errno)
        nested = [one for one in (getattr(inner, "reason", None), *inner.args) if isinstance(one, BaseException)]
        inner = inner.__cause__ or (nested[0] if nested else inner.__context__)
        depth += 1
    return BROKEN


def to_attempt_result(
    response: HttpResponse | Facts, attempt: Attempt, first: int, endpoint: ResolvedEndpoint, chain_id: int | None
) -> AttemptResult:
    """Read a response, mask secrets, and return the outcomes of the calls.

    Args:
        response: The response, or the failure of the request.
        attempt: The attempt.
        first: The id of the first call.
        endpoint: The endpoint with its secrets.
        chain_id: The expected chain id, or None.

    """
    calls = attempt.calls
    is_batch = len(calls) > 1
    whole = False
    reads: list[Result | Facts]
    if isinstance(response, Facts):
        if response.kind == "timeout":
            text = f"no response within {attempt.limit_ms:.0f} ms"
            if attempt.own_limit_ms is not None:
                text = f"no response within the {attempt.own_limit_ms:.0f} ms of one attempt"
            response = replace(response, text=text)
        reads = [replace(response, batch=is_batch)] * len(calls)
    elif is_batch:
        paired = read_batch_response(response, first, len(calls))
        whole = isinstance(paired, Facts)
        reads = [paired] * len(calls) if isinstance(paired, Facts) else paired
    else:
        reads = [read_response(response, first)]
    header = response.headers.get("x-chain-id") if isinstance(response, HttpResponse) else None
    outcomes: list[Outcome] = []
    limits: list[int | None] = []
    blames_batch = False
    for call, one in zip(calls, reads, strict=True):
        limit = None
        if isinstance(one, Result):
            one = find_chain_mismatch(chain_id, one.value if call.method == "eth_chainId" else header) or one
        if isinstance(one, Result):
            if one.value is None and call.method in _LIST_METHODS:
                one = Result([])
            outcomes.append(one)
        else:
            failure = create_failure(
                one, method=call.method, redacted_url=endpoint.redacted_url, secrets=endpoint.secrets
            )
            outcomes.append(failure)
            if is_batch and failure.kind == "batchTooLarge":
                limit = parse_batch_limit(one.text, len(calls))
                blames_batch = blames_batch or re.search("batch", one.text, re.IGNORECASE) is not None
        limits.append(limit)
    return AttemptResult(outcomes=outcomes, whole=whole, limits=limits, blames_batch=blames_batch)


def fail_all(failure: KeyrailError, attempt: Attempt) -> AttemptResult:
    """Fail every call of an attempt, because nothing was sent."""
    return AttemptResult(outcomes=[failure] * len(attempt.calls))
