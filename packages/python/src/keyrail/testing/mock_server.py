"""The HTTP server of the mock node: batches, faults, and the list of received calls."""

from __future__ import annotations

import json
import math
import re
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from .fault import PROVIDERS, Fault, FaultPlan, FaultResponse, get_provider_error
from .rpc_error import RpcError

# An id that no client uses.
_UNKNOWN_ID = 1_000_000_000
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


@dataclass(slots=True)
class _Response:
    """The response to one call."""

    status: int = 200
    result: Any = None
    error: Mapping[str, Any] | None = None
    text: str | None = None

    def to_text(self, response_id: Mapping[str, Any]) -> str:
        if self.text is not None:
            return self.text
        outcome = {"result": self.result} if self.error is None else {"error": self.error}
        return json.dumps({"jsonrpc": "2.0", **response_id, **outcome})


RunCall = Callable[[str, list[Any], "Fault | None"], Any]
"""Runs a call, with the fault that changes what the call sees."""


class MockServer:
    """Serves the calls of a mock node, each connection in a thread of its own.

    Args:
        run: Runs a call.
        max_batch: The maximum number of calls in a batch.

    """

    def __init__(self, run: RunCall, max_batch: Callable[[], float]) -> None:
        self._run = run
        self._max_batch = max_batch
        self.provider = "keyrail"
        self.plan = FaultPlan()
        self.calls: list[ReceivedCall] = []
        # One call at a time, so that a test sees a state without half of a call.
        self.lock = threading.RLock()
        self._hanging = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            # The status, the headers and the body are written at once.
            wbufsize = -1

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", "0"))
                server.respond(self, self.rfile.read(length))

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                # The client closed the connection.
                pass

        self._http = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.05,), name="keyrail-mock-node", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop the server. Requests that hang end with a network error."""
        self.clear_faults()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def clear_faults(self) -> None:
        """Cancel all faults. Requests that hang end with a network error."""
        with self.lock:
            self.plan.clear()
            self._hanging.set()
            self._hanging = threading.Event()

    def respond(self, http: BaseHTTPRequestHandler, body: bytes) -> None:
        """Respond to a request."""
        try:
            parsed = json.loads(body)
        except ValueError:
            return _send(http, 400, _Response(error={"code": -32700, "message": "Parse error"}).to_text({"id": None}))
        in_batch = isinstance(parsed, list)
        calls = [_parse_call(one) for one in (parsed if in_batch else [parsed])]
        with self.lock:
            if in_batch and (not calls or len(calls) > self._max_batch()):
                return self._reject(http, "batchTooLarge" if calls else "invalidRequest", len(calls))
            faults = [self.plan.take(one["method"], in_batch=in_batch) for one in calls]
            hanging = self._hanging
        for fault in faults:
            if fault and fault.kind == "slow":
                hanging.wait(fault.delay_ms / 1_000)
        for fault in faults:
            if fault and self._fail_request(http, fault, calls, in_batch, hanging):
                return None
        with self.lock:
            pairs = list(zip(calls, faults, strict=True))
            # In order: a call may read what an earlier call of the batch sent.
            responses = [self._run_call(one, fault, in_batch) for one, fault in pairs]
        texts = [
            response.to_text(_get_response_id(calls, at, fault))
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
        return _send(http, 200 if in_batch else responses[0].status, text, _get_headers(fault))

    def _reject(self, http: BaseHTTPRequestHandler, kind: str, calls: int) -> None:
        error = get_provider_error(self.provider, kind)
        text = error.get("text")
        if text is None:
            message = error["error"]["message"].replace("1001 > ", f"{calls} > ")
            message = re.sub(r"(?<=(?:> ))\d+|(?<=at most )\d+|(?<=more than )\d+", str(self._max_batch()), message)
            text = _Response(error={**error["error"], "message": message}).to_text({"id": None})
        _send(http, error["status"], text)

    def _fail_request(
        self,
        http: BaseHTTPRequestHandler,
        fault: Fault,
        calls: list[dict[str, Any]],
        in_batch: bool,
        hanging: threading.Event,
    ) -> bool:
        """Respond to the whole request if the fault requires that."""
        kind, error = fault.kind, fault.get_error(self.provider)
        lost = kind == "unconfirmed" and any(one["method"] == "eth_sendRawTransaction" for one in calls)
        rejects = error is not None and error.get("rejectsWholeRequest")
        if not (isinstance(kind, FaultResponse) or kind in ("network", "hang", "empty", "htmlPage") or lost or rejects):
            return False
        with self.lock:
            for one in calls:
                self._record(one, in_batch, fault)
        if isinstance(kind, FaultResponse):
            _send(http, kind.status, _create_body(kind.body, calls, in_batch), kind.headers)
        elif kind == "empty":
            _send(http, fault.status or 200, "")
        elif kind == "htmlPage":
            _send(http, fault.status or 502, _BAD_GATEWAY)
        elif error is not None and rejects:
            response = _to_response(error, calls[0]["method"], fault)
            _send(http, response.status, response.to_text({"id": None}), _get_headers(fault))
        else:
            if kind == "hang":
                hanging.wait()
            _reset(http)
        return True

    def _run_call(self, call: dict[str, Any], fault: Fault | None, in_batch: bool) -> _Response:
        error = fault.get_error(self.provider) if fault else None
        if fault and error is not None:
            self._record(call, in_batch, fault)
            return _to_response(error, call["method"], fault)
        try:
            result = self._run(call["method"], call["params"], fault)
            response = _Response(result=json.loads(json.dumps(result)))
        except RpcError as rejected:
            self._record(call, in_batch, fault, rejected.error)
            return _Response(status=rejected.status, error=rejected.error)
        except Exception as problem:  # Raised by a handler of the test.
            details = {"code": -32603, "message": f"Internal error: {type(problem).__name__}: {problem}"}
            self._record(call, in_batch, fault, details)
            return _Response(error=details)
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


def _to_response(error: Mapping[str, Any], method: str, fault: Fault) -> _Response:
    if "error" not in error:
        return _Response(status=error["status"], text=error.get("text", ""))
    details = error["error"]
    data = details.get("data") if fault.data is None else fault.data
    if fault.retry_after_ms is not None and isinstance(data, dict) and "retryAfterMs" in data:
        data = {**data, "retryAfterMs": fault.retry_after_ms}
    message = fault.message or details["message"].replace("$METHOD", method)
    shown = {"code": details["code"], "message": message, **({} if data is None else {"data": data})}
    return _Response(status=error["status"], error=shown)


def _get_headers(fault: Fault | None) -> dict[str, str]:
    if fault is None or fault.retry_after_ms is None:
        return {}
    return {"retry-after": str(math.ceil(fault.retry_after_ms / 1_000))}


def _get_response_id(calls: list[dict[str, Any]], at: int, fault: Fault | None) -> dict[str, Any]:
    own = calls[at]["id"]
    replaced: dict[Any, dict[str, Any]] = {
        "wrongId": {"id": _UNKNOWN_ID},
        "stringId": {"id": str(own)},
        "nullId": {"id": None},
        "missingId": {},
        "duplicateId": {"id": calls[(at + 1) % len(calls)]["id"]},
    }
    is_kind = fault is not None and isinstance(fault.kind, str)
    return replaced.get(fault.kind, {"id": own}) if fault and is_kind else {"id": own}


def _create_body(body: Any, calls: list[dict[str, Any]], in_batch: bool) -> str:
    if isinstance(body, str):
        return body

    def fill(value: Any, call_id: Any) -> Any:
        if isinstance(value, list):
            return [fill(one, call_id) for one in value]
        if isinstance(value, dict):
            return {name: call_id if name == "id" and one == 1 else fill(one, call_id) for name, one in value.items()}
        return value

    is_single = isinstance(body, dict) and body.get("id") == 1
    filled = [fill(body, one["id"]) for one in calls]
    return json.dumps(filled if in_batch and is_single else filled[0])


def _send(http: BaseHTTPRequestHandler, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
    kind = "application/json" if text[:1] in ("{", "[") else "text/html" if text[:1] == "<" else "text/plain"
    body = text.encode()
    http.send_response(status)
    for name, value in {"content-type": kind, "content-length": str(len(body)), **(headers or {})}.items():
        http.send_header(name, value)
    http.end_headers()
    http.wfile.write(body)


def _reset(http: BaseHTTPRequestHandler) -> None:
    """Break the connection in the middle of a response: clients repeat a request if its connection was closed before that."""
    http.send_response(200)
    http.send_header("content-length", "1000")
    http.end_headers()
    http.wfile.flush()
    http.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    http.close_connection = True
