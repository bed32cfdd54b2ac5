"""What the synchronous and the asynchronous provider share: calls made of what the user gave, and what is given back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from web3._utils.encoding import Web3JsonEncoder
from web3.types import RPCEndpoint, RPCResponse

from ..address.open_address import Address
from ..failure.as_revert import as_revert
from ..failure.check import check, invalid
from ..failure.error import KeyrailError
from ..failure.hints import with_hint
from ..message.answer import Result
from .batch import BatchSize, batch_steps
from .heavy import time_of
from .options import Plan
from .retry import call_steps
from .safe_write import write_steps
from .steps import Call, Outcome, Steps, now_ms
from .transaction_hash import transaction_hash

Request: TypeAlias = "tuple[RPCEndpoint | str, Any]"
"""A method and its params."""


@dataclass(slots=True, frozen=True)
class Settled:
    """How one call of a batch ended."""

    value: Any = None
    """What it was answered, as it came."""
    error: KeyrailError | None = None
    """Why it failed; None where it was answered."""

    @property
    def ok(self) -> bool:
        """Whether it was answered."""
        return self.error is None


class Walks:
    """Makes the steps of calls."""

    def __init__(self, address: Address, plan: Plan) -> None:
        self._label = address.label
        self._plan = plan
        self._size = BatchSize(plan)
        self._chain_id = address.chain_id

    def known(self, method: str) -> Result | None:
        """Give what need not be asked: the chain id that was named, or was asked before."""
        if method == "eth_chainId" and self._chain_id is not None:
            return Result(hex(self._chain_id))
        return None

    def one(self, method: str, params: Any) -> Steps:
        """Give the steps of one call."""
        call = call_of(method, params)
        return self._write(call, params) or self._read(call)

    def many(self, requests: Sequence[Request]) -> Steps:
        """Give the steps of calls that go together."""
        check(not isinstance(requests, (str, bytes)), "a batch is a list of (method, params)")
        calls: list[Call] = []
        writes: list[Steps | None] = []
        for request in requests:
            check(
                isinstance(request, (tuple, list)) and len(request) == 2,
                "a batch is a list of (method, params)",
            )
            method, params = request
            call = call_of(method, params)
            calls.append(call)
            writes.append(self._write(call, params))
        return batch_steps(calls, writes, self._size, self._plan)

    def learn(self, method: str, outcome: Outcome) -> None:
        """Keep the chain id, which never changes."""
        if method == "eth_chainId" and self._chain_id is None and isinstance(outcome, Result):
            try:
                self._chain_id = int(str(outcome.value), 16)
            except ValueError:
                self._chain_id = None

    def _read(self, call: Call) -> Steps:
        limit_ms = time_of(call.method, self._plan.timeout_ms)
        return call_steps(call, self._plan, now_ms() + limit_ms, limit_ms)

    def _write(self, call: Call, params: Any) -> Steps | None:
        if call.method not in ("eth_sendRawTransaction", "eth_sendRawTransactionSync"):
            return None
        given = json.loads(call.params)
        tx_hash = transaction_hash(given[0] if isinstance(given, list) and given else params)
        if tx_hash is None:
            return None
        limit_ms = time_of(call.method, self._plan.timeout_ms)
        return write_steps(call, tx_hash, self._label, self._plan, now_ms() + limit_ms, limit_ms)


# Made once: json.dumps makes an encoder for every call.
_as_json = json.JSONEncoder(separators=(",", ":")).encode
_as_web3_json = Web3JsonEncoder(separators=(",", ":")).encode


def call_of(method: Any, params: Any) -> Call:
    """Write the params, once.

    Raises:
        KeyrailError: Of kind ``invalidRequest`` where they cannot be written as JSON.

    """
    check(isinstance(method, str) and method, "method must be the name of a JSON-RPC method")
    params = [] if params is None else params
    written: str | None = None
    try:
        written = _as_json(params)
    except TypeError:
        # What web3.py has types of its own for: bytes, attribute dicts.
        try:
            written = _as_web3_json(params)
        except (TypeError, ValueError, RecursionError):
            written = None
    except (ValueError, RecursionError):
        written = None
    if written is None:
        raise invalid(f"the params of {method} cannot be written as JSON")
    return Call(str(method), written)


# web3.py reads the errors of these for what a contract reverted with.
_REVERTING = ("eth_call", "eth_estimateGas")


def web3_reads(failure: KeyrailError) -> RPCResponse | None:
    """Give the answer of which web3.py makes an error of its own that programs wait for; None where ours says more."""
    error = failure.rpc_error
    if error is None or failure.method is None:
        return None
    method, message = failure.method, error.get("message", "")
    said = message.lower()
    shown: Any = None
    if failure.kind == "revert" and method in _REVERTING:
        revert = as_revert(error)
        shown = revert if revert.get("code") == 3 else None
    elif (
        message == "transaction not found"
        or (method == "eth_getTransactionReceipt" and "index" in said and "progress" in said)
        or (method.startswith("eth_getBlock") and "not found" in said and ("block" in said or "header" in said))
    ):
        shown = error
    if shown is None:
        return None
    response: Any = {"jsonrpc": "2.0", "id": 1, "error": shown}
    answer: RPCResponse = response
    return answer


def response_of(outcome: Outcome) -> RPCResponse:
    """Give an outcome as web3.py wants it.

    Raises:
        KeyrailError: The failure, where web3.py has no better word for it.

    """
    if isinstance(outcome, Result):
        response: Any = {"jsonrpc": "2.0", "id": 1, "result": outcome.value}
        answer: RPCResponse = response
        return answer
    read = web3_reads(outcome)
    if read is not None:
        return read
    raise with_hint(outcome)


def responses_of(outcomes: Sequence[Outcome]) -> list[RPCResponse]:
    """Give the outcomes of a batch as web3.py wants them: one for each call, in their order.

    Raises:
        KeyrailError: The first failure, where web3.py has no better word for it. web3.py raises the first of its own.

    """
    responses: list[RPCResponse] = []
    for outcome in outcomes:
        try:
            responses.append(response_of(outcome))
        except KeyrailError:
            if not any("error" in response for response in responses):
                raise
            # web3.py stops at an earlier one, and does not look at this.
            responses.append(responses[-1])
    return responses


def settled_of(outcome: Outcome) -> Settled:
    """Give how a call ended as the user sees it."""
    if isinstance(outcome, Result):
        return Settled(value=outcome.value)
    return Settled(error=with_hint(outcome))
