"""Responds to the requests of a mock node: batches, faults, and the list of received calls."""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .fault import PROVIDERS, Fault, FaultPlan, FaultResponse, get_provider_error
from .mock_response import Reply, Response, create_body, get_headers, get_response_id, to_response
from .mock_subscriptions import Subscriptions
from .rpc_error import RpcError

_BAD_GATEWAY = (
    "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>"
)


@dataclass(frozen=True, slots=True)
class ReceivedCall:
    """A call that the mock node received.

    Attributes:
        method: The JSON-RPC method.
        params: Its parameters.
        batch: Whether the call was part of a batch.
        outcome: The outcome of the call: ``fault`` if a fault from ``fail`` applied to it.
        error: The JSON-RPC error, if the outcome is ``error``.
        fault: The kind of the fault, if the outcome is ``fault``.

    """

    method: str
    params: list[Any]
    batch: bool
    outcome: Literal["result", "error", "fault"]
    error: Mapping[str, Any] | None = None
    fault: str | None = None


RunCall = Callable[[str, list[Any], "Fault | None", "Subscriptions | None"], Any]
"""Runs a call, with the fault that changes what the call sees, and with the subscriptions of its WebSocket."""


class RequestHandler:
    """Responds to the requests of a mock node.

    Args:
        run: Runs a call.
        provider: The provider whose error responses are used.
        max_batch: The maximum number of calls in a batch.

    """

    def __init__(self, run: RunCall, provider: str, max_batch: Callable[[], float]) -> None:
        self._run = run
        self._max_batch = max_batch
        self.provider = provider
        self.plan = FaultPlan()
        self.calls: list[ReceivedCall] = []
        # One call at a time, so that a test sees a state without half of a call.
        self.lock = threading.RLock()
        self._hanging = threading.Event()

    def clear_faults(self) -> None:
        """Cancel all faults. Requests that hang end with a network error."""
        with self.lock:
            self.plan.clear()
            self._hanging.set()
            self._hanging = threading.Event()

    def respond(self, body: bytes, subscriptions: Subscriptions | None = None) -> Reply | None:
        """Respond to a request.

        Args:
            body: The body of an HTTP request, or a message of a WebSocket.
            subscriptions: Those of the WebSocket. None over HTTP.

        Returns:
            The response. None if the connection breaks.

        """
        try:
            parsed = json.loads(body)
        except ValueError:
            return Reply(400, Response(error={"code": -32700, "message": "Parse error"}).to_text({"id": None}))
        in_batch = isinstance(parsed, list)
        calls = [_parse_call(one) for one in (parsed if in_batch else [parsed])]
        with self.lock:
            if in_batch and (not calls or len(calls) > self._max_batch()):
                return self._reject("batchTooLarge" if calls else "invalidRequest", len(calls))
            faults = [self.plan.take(one["method"], in_batch=in_batch) for one in calls]
            hanging = self._hanging
        for fault in faults:
            if fault and fault.kind == "slow":
                hanging.wait(fault.delay_ms / 1_000)
        for fault in faults:
            if fault and self._fails_request(fault, calls):
                return self._fail_request(fault, calls, in_batch, hanging)
        with self.lock:
            pairs = list(zip(calls, faults, strict=True))
            # In order: a call may read what an earlier call of the batch sent.
            responses = [self._run_call(one, fault, in_batch, subscriptions) for one, fault in pairs]
        texts = [
            response.to_text(get_response_id(calls, at, fault))
            for at, (response, fault) in enumerate(zip(responses, faults, strict=True))
            if not (fault and fault.kind == "missingResponse")
        ]
        kinds = [fault.kind for fault in faults if fault]
        if in_batch and ("shuffled" in kinds or PROVIDERS[self.provider].get("reversesBatches")):
            texts.reverse()
        text = f"[{','.join(texts)}]" if in_batch else texts[0]
        if "truncated" in kinds or "badResponse" in kinds:
            text = text[: math.ceil(len(text) / 2)]
        fault = None if in_batch else faults[0]
        return Reply(200 if in_batch else responses[0].status, text, get_headers(fault))

    def _reject(self, kind: str, calls: int) -> Reply:
        error = get_provider_error(self.provider, kind)
        text = error.get("text")
        if text is None:
            message = error["error"]["message"].replace("1001 > ", f"{calls} > ")
            message = re.sub(r"(?<=(?:> ))\d+|(?<=at most )\d+|(?<=more than )\d+", str(self._max_batch()), message)
            text = Response(error={**error["error"], "message": message}).to_text({"id": None})
        return Reply(error["status"], text)

    def _fails_request(self, fault: Fault, calls: list[dict[str, Any]]) -> bool:
        """Check whether a fault applies to the whole request."""
        error = fault.get_error(self.provider)
        return (
            isinstance(fault.kind, FaultResponse)
            or fault.kind in ("network", "hang", "empty", "htmlPage")
            or (fault.kind == "unconfirmed" and any(one["method"] == "eth_sendRawTransaction" for one in calls))
            or (error is not None and bool(error.get("rejectsWholeRequest")))
        )

    def _fail_request(
        self, fault: Fault, calls: list[dict[str, Any]], in_batch: bool, hanging: threading.Event
    ) -> Reply | None:
        kind, error = fault.kind, fault.get_error(self.provider)
        with self.lock:
            for one in calls:
                self._record(one, in_batch, fault)
        if isinstance(kind, FaultResponse):
            return Reply(kind.status, create_body(kind.body, calls, in_batch), kind.headers)
        if kind == "empty":
            return Reply(fault.status or 200, "")
        if kind == "htmlPage":
            return Reply(fault.status or 502, _BAD_GATEWAY)
        if error is not None:
            response = to_response(error, calls[0]["method"], fault)
            return Reply(response.status, response.to_text({"id": None}), get_headers(fault))
        if kind == "hang":
            hanging.wait()
        return None

    def _run_call(
        self, call: dict[str, Any], fault: Fault | None, in_batch: bool, subscriptions: Subscriptions | None
    ) -> Response:
        error = fault.get_error(self.provider) if fault else None
        if fault and error is not None:
            self._record(call, in_batch, fault)
            return to_response(error, call["method"], fault)
        try:
            result = self._run(call["method"], call["params"], fault, subscriptions)
            response = Response(result=json.loads(json.dumps(result)))
        except RpcError as rejected:
            self._record(call, in_batch, fault, rejected.error)
            return Response(status=rejected.status, error=rejected.error)
        except Exception as problem:  # Raised by a handler of the test.
            details = {"code": -32603, "message": f"Internal error: {type(problem).__name__}: {problem}"}
            self._record(call, in_batch, fault, details)
            return Response(error=details)
        self._record(call, in_batch, fault)
        return response

    def _record(
        self, call: dict[str, Any], in_batch: bool, fault: Fault | None, error: Mapping[str, Any] | None = None
    ) -> None:
        outcome: Literal["result", "error", "fault"] = "error" if error else "fault" if fault else "result"
        name = fault.name if fault and not error else None
        self.calls.append(ReceivedCall(call["method"], call["params"], in_batch, outcome, error, name))


def _parse_call(given: Any) -> dict[str, Any]:
    call = given if isinstance(given, dict) else {}
    return {"id": call.get("id"), "method": str(call.get("method", "")), "params": call.get("params") or []}
