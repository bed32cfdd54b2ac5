"""Creates calls from what the user passed, and converts their outcomes. Both providers share this."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from web3._utils.encoding import Web3JsonEncoder
from web3.types import RPCEndpoint, RPCResponse

from ..failure.check import check, describe, invalid
from ..failure.error import KeyrailError
from ..failure.hints import add_hint
from ..failure.to_revert import to_revert
from ..message.response import Result
from ..methods import find_methods
from ..observe.endpoint_state import EndpointState
from .batch import batch_steps
from .call_options import CallOptions, get_call_options
from .call_settings import CallSettings
from .call_timeout import get_timeout_ms
from .create_sender import create_sender
from .deadline import Deadline, start_deadline
from .parse_options import ParsedOptions
from .retry import call_steps
from .safe_write import write_steps
from .steps import Call, Outcome, Steps, observe_calls
from .transaction_hash import compute_transaction_hash

RpcRequest: TypeAlias = "tuple[RPCEndpoint | str, Any]"
"""A JSON-RPC method and its parameters."""


@dataclass(slots=True, frozen=True)
class SettledValue:
    """The outcome of a call of a batch that succeeded."""

    value: Any
    """The result, as the node sent it."""
    ok: Literal[True] = True
    error: None = None


@dataclass(slots=True, frozen=True)
class SettledError:
    """The outcome of a call of a batch that failed."""

    error: KeyrailError
    """The failure."""
    ok: Literal[False] = False
    value: None = None


Settled: TypeAlias = SettledValue | SettledError
"""The outcome of one call of a batch. Type checkers narrow its type by ``one.error is None``."""


class CallFactory:
    """Creates the steps of the calls of a provider."""

    def __init__(self, parsed: ParsedOptions) -> None:
        chain_ids = [one.endpoint.chain_id for one in parsed.endpoints]
        self._redacted_url = parsed.endpoints[0].endpoint.redacted_url
        self._settings = parsed.settings
        self._observer = parsed.observer
        self._follows_heads = parsed.failover is not None
        self._sender = create_sender(parsed.endpoints, parsed.failover, parsed.cache, parsed.settings)
        self._chain_id = next((one for one in chain_ids if one is not None), None)

    def get_endpoint_states(self) -> list[EndpointState]:
        """Return the state of each endpoint."""
        return self._sender.get_states()

    def get_cached(self, method: str) -> Result | None:
        """Return the chain id for ``eth_chainId``, if it is known."""
        if method != "eth_chainId" or self._chain_id is None:
            return None
        result = Result(hex(self._chain_id))
        if self._observer is not None:
            observed = self._observer.start(method)
            observed.use_cache()
            observed.end(result)
        return result

    def cache_result(self, method: str, outcome: Outcome) -> None:
        """Remember the result of ``eth_chainId``, which never changes."""
        if method == "eth_chainId" and self._chain_id is None and isinstance(outcome, Result):
            try:
                self._chain_id = int(str(outcome.value), 16)
            except ValueError:
                self._chain_id = None

    def create_single(self, method: str, params: Any) -> Steps:
        """Create the steps of one call."""
        settings, options = self._get_options()
        call = create_call(method, params, options)
        steps = self._create_write(call, params, settings) or self._create_read(call, settings)
        if self._observer is None:
            return steps
        call.observed = self._observer.start(call.method)
        return observe_calls([call], steps)

    def create_batch(self, requests: Sequence[RpcRequest]) -> Steps:
        """Create the steps of several calls."""
        check(
            not isinstance(requests, (str, bytes)),
            f"A batch must be a list of (method, params), not {describe(requests)}.",
        )
        settings, options = self._get_options()
        calls: list[Call] = []
        writes: list[Steps | None] = []
        for at, request in enumerate(requests):
            if not isinstance(request, (tuple, list)) or len(request) != 2:
                raise invalid(f"Request {at} of the batch must be (method, params), not {describe(request)}.")
            method, params = request
            call = create_call(method, params, options)
            calls.append(call)
            writes.append(self._create_write(call, params, settings))
        if self._observer is not None:
            for call in calls:
                call.observed = self._observer.start(call.method)
        return observe_calls(calls, batch_steps(calls, writes, self._sender, settings))

    def _get_options(self) -> tuple[CallSettings, CallOptions | None]:
        """Return the settings of the calls that start here."""
        options = get_call_options()
        if options is None:
            return self._settings, None
        check(
            not options.min_block or self._follows_heads,
            "min_block works only with endpoints. Pass endpoints=[Endpoint(url), …] to the provider, or leave it out.",
        )
        return options.apply(self._settings), options

    def _create_read(self, call: Call, settings: CallSettings) -> Steps:
        return call_steps(call, self._sender, settings, _start_deadline(call, settings))

    def _create_write(self, call: Call, params: Any, settings: CallSettings) -> Steps | None:
        """Create the steps of a call that sends a signed transaction; None for other calls."""
        if call.method not in _LOOKED_UP:
            return None
        given = json.loads(call.params)
        tx_hash = compute_transaction_hash(given[0] if isinstance(given, list) and given else params)
        if tx_hash is None:
            return None
        deadline = _start_deadline(call, settings)
        return write_steps(call, tx_hash, self._redacted_url, self._sender, settings, deadline)


def _start_deadline(call: Call, settings: CallSettings) -> Deadline:
    return start_deadline(get_timeout_ms(call.method, settings.timeout_ms))


# Created once, because json.dumps creates an encoder for every call.
_to_plain_json = json.JSONEncoder(separators=(",", ":")).encode
_to_web3_json = Web3JsonEncoder(separators=(",", ":")).encode


def create_call(method: Any, params: Any, options: CallOptions | None = None) -> Call:
    """Create a call with its parameters as JSON.

    Args:
        method: The method.
        params: Its parameters.
        options: The options of this call; None for those of the provider.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if the method or the parameters are not valid.

    """
    if not isinstance(method, str) or not method:
        shown = "an empty string" if method == "" else describe(method)
        raise invalid(f'method must be a JSON-RPC method such as "eth_chainId", not {shown}.')
    params = [] if params is None else params
    text: str | None = None
    try:
        text = _to_plain_json(params)
    except TypeError:
        # web3.py has its own types: bytes and attribute dicts.
        try:
            text = _to_web3_json(params)
        except (TypeError, ValueError, RecursionError):
            text = None
    except (ValueError, RecursionError):
        text = None
    if text is None:
        raise invalid(
            f"The params of {method} cannot be written as JSON. Pass strings, numbers, booleans, None, bytes, lists and dicts."
        )
    if options is None:
        return Call(str(method), text)
    return Call(str(method), text, priority=options.priority, min_block=options.min_block)


# web3.py decodes reverts in error responses to these methods.
_LOOKED_UP = find_methods("lookUp", "transaction", "receipt")
_REVERTING = ("eth_call", "eth_estimateGas")


def to_web3_error(failure: KeyrailError) -> RPCResponse | None:
    """Return the error response from which web3.py creates its own exception, such as BlockNotFound; None to raise the failure."""
    error = failure.rpc_error
    if error is None or failure.method is None:
        return None
    method, message = failure.method, error.get("message", "")
    lower = message.lower()
    shown: Any = None
    if failure.kind == "revert" and method in _REVERTING:
        revert = to_revert(error)
        shown = revert if revert.get("code") == 3 else None
    elif (
        message == "transaction not found"
        or (method == "eth_getTransactionReceipt" and "index" in lower and "progress" in lower)
        or (method == "eth_getBlockReceipts" and "not found" in lower and ("block" in lower or "header" in lower))
    ):
        shown = error
    if shown is None:
        return None
    response: Any = {"jsonrpc": "2.0", "id": 1, "error": shown}
    typed: RPCResponse = response
    return typed


def to_rpc_response(outcome: Outcome) -> RPCResponse:
    """Convert an outcome to the response that web3.py expects.

    Raises:
        KeyrailError: If the call failed and web3.py has no exception of its own for the failure.

    """
    if isinstance(outcome, Result):
        response: Any = {"jsonrpc": "2.0", "id": 1, "result": outcome.value}
        typed: RPCResponse = response
        return typed
    web3_error = to_web3_error(outcome)
    if web3_error is not None:
        return web3_error
    raise add_hint(outcome)


def to_rpc_responses(outcomes: Sequence[Outcome]) -> list[RPCResponse]:
    """Convert the outcomes of a batch to the responses that web3.py expects, in the order of the calls.

    Raises:
        KeyrailError: If a call failed and web3.py does not raise an exception of its own for an earlier call.

    """
    responses: list[RPCResponse] = []
    for outcome in outcomes:
        try:
            responses.append(to_rpc_response(outcome))
        except KeyrailError:
            if not any("error" in response for response in responses):
                raise
            # web3.py raises the earlier error and ignores this response.
            responses.append(responses[-1])
    return responses


def to_settled(outcome: Outcome) -> Settled:
    """Convert an outcome of a batch for the user."""
    if isinstance(outcome, Result):
        return SettledValue(outcome.value)
    return SettledError(add_hint(outcome))
