"""The node of adapters.json, behind a server that responds as a case says."""

from __future__ import annotations

import json
import time
from email.utils import formatdate
from math import ceil
from typing import Any

from fault_server import Connection, FaultServer, ReceivedRequest
from vectors import read_vectors

NODE = read_vectors("adapters.json")["node"]
FOREIGN = 1_000_000_007
RECEIPT = {
    "transactionHash": NODE["transaction"]["hash"],
    "transactionIndex": "0x0",
    "blockHash": "0x" + "0" * 63 + "1",
    "blockNumber": NODE["blockNumber"],
    "from": NODE["transaction"]["from"],
    "to": NODE["contract"]["address"],
    "cumulativeGasUsed": "0x5208",
    "gasUsed": "0x5208",
    "effectiveGasPrice": "0x1",
    "contractAddress": None,
    "logs": [],
    "logsBloom": "0x" + "0" * 512,
    "status": "0x1",
    "type": "0x2",
}


def find_account(params: Any) -> Any:
    address = str(params[0]).lower() if params else ""
    return next((one for one in NODE["accounts"] if one["address"] == address), None)


class AdapterServer(FaultServer):
    def __init__(self, responses: list[dict[str, Any]], key: str) -> None:
        self.responses = responses
        self.key = key
        self.used: dict[int, int] = {}
        self.accepted: set[Any] = set()
        self.other = FaultServer()
        super().__init__(self.respond)

    def close(self) -> None:
        super().close()
        self.other.close()

    def result(self, call: dict[str, Any]) -> Any:
        method, params = call["method"], call.get("params") or []
        known = bool(params) and isinstance(params[0], str) and params[0] in self.accepted
        return {
            "eth_blockNumber": NODE["blockNumber"],
            "eth_chainId": NODE["chainId"],
            "eth_call": NODE["contract"]["response"],
            "eth_getBalance": (find_account(params) or {"balance": "0x0"})["balance"],
            "eth_sendRawTransaction": NODE["transaction"]["hash"],
            "eth_getTransactionByHash": (
                {"hash": NODE["transaction"]["hash"], "from": NODE["transaction"]["from"]} if known else None
            ),
            "eth_getTransactionReceipt": RECEIPT if known else None,
        }.get(method, "0x1")

    def fits(self, response: dict[str, Any], at: int, request: ReceivedRequest) -> bool:
        calls = request.calls
        is_batch = isinstance(request.json, list)
        return (
            ("for" not in response or any(call["method"] == response["for"] for call in calls))
            and (
                "account" not in response
                or (not is_batch and find_account(calls[0].get("params")) is NODE["accounts"][response["account"]])
            )
            and (is_batch or not (response.get("batch") or response.get("over")))
            and len(calls) > response.get("over", 0)
            and self.used.get(at, 0) < response.get("times", float("inf"))
        )

    def respond(self, request: ReceivedRequest, connection: Connection) -> None:
        calls = request.calls
        reused = any(before.connection == request.connection for before in self.requests if before is not request)
        at = next((at for at, one in enumerate(self.responses) if self.fits(one, at, request)), -1)
        response = self.responses[at] if at >= 0 else {}
        self.used[at] = self.used.get(at, 0) + 1
        is_lost = ("fault" in response or "body" in response) and not response.get("accepted")
        if not is_lost and "eth_sendRawTransaction" in request.methods:
            self.accepted.add(NODE["transaction"]["hash"])

        def item(call: dict[str, Any]) -> dict[str, Any]:
            return {"jsonrpc": "2.0", "id": call["id"], "result": self.result(call)}

        def to_entry(one: dict[str, Any]) -> dict[str, Any]:
            call = calls[one["of"]] if one.get("of", len(calls)) < len(calls) else None
            entry_id: Any = call["id"] if call else None
            if "id" in one:
                entry_id = {"text": str(entry_id), "foreign": FOREIGN, None: None}[one["id"]]
            outcome = (
                {"error": one["error"]}
                if "error" in one
                else {"result": one.get("result", self.result(call) if call else None)}
            )
            return {"jsonrpc": "2.0", "id": entry_id, **outcome}

        def fill(text: str) -> str:
            # A date has whole seconds, so this one is at least one second away.
            date = formatdate(ceil(time.time()) + 1, usegmt=True)
            return (
                text.replace('"$ID"', json.dumps(calls[0]["id"]))
                .replace("$ID", str(calls[0]["id"]))
                .replace('"$FOREIGN"', str(FOREIGN))
                .replace("$KEY", self.key)
                .replace("$PATH", request.path)
                .replace("$OTHER", self.other.url)
                .replace("$IN2S", date)
            )

        if "body" in response:
            body = response["body"]
        elif "items" in response:
            body = [to_entry(one) for one in response["items"]]
        else:
            body = [item(call) for call in calls] if isinstance(request.json, list) else item(calls[0])
        text = fill(body if isinstance(body, str) else json.dumps(body))
        headers = {
            name: fill(value) for name, value in response.get("headers", {"content-type": "application/json"}).items()
        }
        status = response.get("status", 200)
        time.sleep(response.get("delayMs", 0) / 1_000)
        fault = response.get("fault", "none")
        if fault == "resetReused":
            fault = "reset" if reused else "none"
        if fault == "none":
            connection.respond(status, text, headers)
        elif fault == "reset":
            connection.reset()
        elif fault == "hang":
            connection.hang()
        elif fault == "stall":
            connection.head(status, headers, len(text.encode()))
            connection.hang()
        elif fault == "drip":
            connection.head(status, {**headers, "connection": "close"}, None)
            connection.drip()
        elif fault == "cut":
            data = text.encode()
            connection.head(status, headers, len(data))
            connection.send(data[:-5])
            connection.sock.close()
            raise OSError("cut")
        else:
            raise AssertionError(f"unknown fault: {fault}")
