"""The node of adapters.json, behind a server that answers as a case says."""

from __future__ import annotations

import json
import time
from email.utils import formatdate
from math import ceil
from typing import Any

from fault_server import FaultServer, Seen, Wire
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


def account_of(params: Any) -> Any:
    wanted = str(params[0]).lower() if params else ""
    return next((one for one in NODE["accounts"] if one["address"] == wanted), None)


class AdapterServer(FaultServer):
    def __init__(self, answers: list[dict[str, Any]], key: str) -> None:
        self.answers = answers
        self.key = key
        self.used: dict[int, int] = {}
        self.taken: set[Any] = set()
        self.other = FaultServer()
        super().__init__(self.respond)

    def close(self) -> None:
        super().close()
        self.other.close()

    def result(self, call: dict[str, Any]) -> Any:
        method, params = call["method"], call.get("params") or []
        known = bool(params) and isinstance(params[0], str) and params[0] in self.taken
        return {
            "eth_blockNumber": NODE["blockNumber"],
            "eth_chainId": NODE["chainId"],
            "eth_call": NODE["contract"]["answer"],
            "eth_getBalance": (account_of(params) or {"balance": "0x0"})["balance"],
            "eth_sendRawTransaction": NODE["transaction"]["hash"],
            "eth_getTransactionByHash": (
                {"hash": NODE["transaction"]["hash"], "from": NODE["transaction"]["from"]} if known else None
            ),
            "eth_getTransactionReceipt": RECEIPT if known else None,
        }.get(method, "0x1")

    def fits(self, answer: dict[str, Any], at: int, seen: Seen) -> bool:
        calls = seen.calls
        is_batch = isinstance(seen.json, list)
        return (
            ("for" not in answer or any(call["method"] == answer["for"] for call in calls))
            and (
                "account" not in answer
                or (not is_batch and account_of(calls[0].get("params")) is NODE["accounts"][answer["account"]])
            )
            and (is_batch or not (answer.get("batch") or answer.get("over")))
            and len(calls) > answer.get("over", 0)
            and self.used.get(at, 0) < answer.get("times", float("inf"))
        )

    def respond(self, seen: Seen, wire: Wire) -> None:
        calls = seen.calls
        reused = any(before.connection == seen.connection for before in self.seen if before is not seen)
        at = next((at for at, one in enumerate(self.answers) if self.fits(one, at, seen)), -1)
        answer = self.answers[at] if at >= 0 else {}
        self.used[at] = self.used.get(at, 0) + 1
        lost = ("fault" in answer or "body" in answer) and not answer.get("taken")
        if not lost and "eth_sendRawTransaction" in seen.methods:
            self.taken.add(NODE["transaction"]["hash"])

        def item(call: dict[str, Any]) -> dict[str, Any]:
            return {"jsonrpc": "2.0", "id": call["id"], "result": self.result(call)}

        def given(one: dict[str, Any]) -> dict[str, Any]:
            call = calls[one["of"]] if one.get("of", len(calls)) < len(calls) else None
            own: Any = call["id"] if call else None
            if "id" in one:
                own = {"text": str(own), "foreign": FOREIGN, None: None}[one["id"]]
            end = (
                {"error": one["error"]}
                if "error" in one
                else {"result": one.get("result", self.result(call) if call else None)}
            )
            return {"jsonrpc": "2.0", "id": own, **end}

        def fill(text: str) -> str:
            # A date has whole seconds: the next but one is at least one second away.
            date = formatdate(ceil(time.time()) + 1, usegmt=True)
            return (
                text.replace('"$ID"', json.dumps(calls[0]["id"]))
                .replace("$ID", str(calls[0]["id"]))
                .replace('"$FOREIGN"', str(FOREIGN))
                .replace("$KEY", self.key)
                .replace("$PATH", seen.path)
                .replace("$OTHER", self.other.url)
                .replace("$IN2S", date)
            )

        if "body" in answer:
            body = answer["body"]
        elif "items" in answer:
            body = [given(one) for one in answer["items"]]
        else:
            body = [item(call) for call in calls] if isinstance(seen.json, list) else item(calls[0])
        text = fill(body if isinstance(body, str) else json.dumps(body))
        headers = {
            name: fill(value) for name, value in answer.get("headers", {"content-type": "application/json"}).items()
        }
        status = answer.get("status", 200)
        time.sleep(answer.get("delayMs", 0) / 1_000)
        fault = answer.get("fault", "none")
        if fault == "resetReused":
            fault = "reset" if reused else "none"
        if fault == "none":
            wire.answer(status, text, headers)
        elif fault == "reset":
            wire.reset()
        elif fault == "hang":
            wire.hang()
        elif fault == "stall":
            wire.head(status, headers, len(text.encode()))
            wire.hang()
        elif fault == "drip":
            wire.head(status, {**headers, "connection": "close"}, None)
            wire.drip()
        elif fault == "cut":
            data = text.encode()
            wire.head(status, headers, len(data))
            wire.send(data[:-5])
            wire.sock.close()
            raise OSError("cut")
        else:
            raise AssertionError(f"no such fault: {fault}")
