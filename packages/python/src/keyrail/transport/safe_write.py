"""Makes ``eth_sendRawTransaction`` tell the truth."""

from __future__ import annotations

import json
from typing import Any

from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError, altered
from ..failure.facts import Facts
from ..message.answer import Result
from .options import Plan
from .retry import call_steps
from .steps import Call, Pause, Steps, now_ms

# How far apart two looks are: what is on its way has arrived by then, and nodes have told each other.
LOOK_MS = 2_000
# How often is looked after a send, at most. For a receipt it is longer, because it comes with a block.
MOST_LOOKS = 3
MOST_RECEIPT_LOOKS = 30
# Failures that say that the transaction was not taken: whoever refused had not passed it on.
_REFUSED = frozenset(
    {
        "auth",
        "forbidden",
        "throttled",
        "quota",
        "methodUnavailable",
        "wrongNetwork",
        "invalidRequest",
        "batchTooLarge",
        "aborted",
    }
)
# Failures by which the node judges the transaction. That it was not taken now does not say that it was not taken before.
_REJECTED = frozenset({"txRejected", "revert"})


def write_steps(call: Call, tx_hash: str, label: str, plan: Plan, until: float, limit_ms: float) -> Steps:
    """Send a signed transaction, and find out what became of it before anything is reported.

    After "already known", after a rejection, and after a failure that leaves open whether it arrived, its hash is looked up.
    It is sent once, and with ``resends`` again where it was looked for twice, 2 s apart, and not found. One attempt to send
    may take half of the time, so that time is left to look.

    Args:
        call: The call.
        tx_hash: The hash that the transaction has.
        label: What may be printed of the address.
        plan: How calls travel.
        until: When it must have ended.
        limit_ms: How long that is in all.

    """
    method = call.method
    sync = method.endswith("Sync")
    resent = 0

    def failed(failure: KeyrailError) -> list[Any]:
        return [altered(failure, transaction_hash=tx_hash)]

    def unconfirmed(after: KeyrailError) -> list[Any]:
        text = f"whether transaction {tx_hash} arrived is not known ({after.kind})"
        failure = create_failure(Facts(kind="unconfirmed", text=text), method=method, label=after.label or label)
        return failed(altered(failure, status=after.status, rpc_error=after.rpc_error))

    while True:
        (outcome,) = yield from call_steps(call, plan, until, limit_ms, attempt_ms=(until - now_ms()) / 2)
        if isinstance(outcome, Result):
            if _names(outcome.value, "transactionHash" if sync else None, tx_hash):
                return [outcome]
            text = "it answered with another transaction"
            failure = create_failure(Facts(kind="badResponse", text=text), method=method, label=label)
        else:
            failure = outcome
            # Of what changes something, only what cannot have arrived may be made again.
            if failure.kind in _REFUSED or failure.retryable:
                return failed(failure)
        looks = absent = 0
        while True:
            asked = "eth_getTransactionReceipt" if sync else "eth_getTransactionByHash"
            (seen,) = yield from call_steps(Call(asked, json.dumps([tx_hash])), plan, until, limit_ms)
            if isinstance(seen, Result) and _names(seen.value, "transactionHash" if sync else "hash", tx_hash):
                return [Result(seen.value if sync else tx_hash)]
            looks += 1
            absent += isinstance(seen, Result) and seen.value is None
            if failure.kind in _REJECTED:
                # Asked of the node that rejected it.
                if absent:
                    return failed(failure)
            elif absent > 1 and not sync and resent < plan.resends:
                resent += 1
                break
            enough = looks >= MOST_RECEIPT_LOOKS if sync else absent > 1 or looks >= MOST_LOOKS
            if enough or until - now_ms() <= LOOK_MS:
                return unconfirmed(failure)
            yield Pause(LOOK_MS)


def _names(value: Any, place: str | None, tx_hash: str) -> bool:
    if place is not None:
        value = value.get(place) if isinstance(value, dict) else None
    return isinstance(value, str) and value.lower() == tx_hash
