"""Sends signed transactions and finds out whether they arrived."""

from __future__ import annotations

import json
import re
from typing import Any

from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError, replace_fields
from ..failure.facts import Facts
from ..failure.is_rejected_before_run import is_rejected_before_run
from ..message.response import Result
from ..methods import TABLE
from .call_settings import CallSettings
from .deadline import Deadline
from .retry import call_steps
from .sender import Group, Sender
from .steps import Call, Pause, Steps
from .transaction_hash import has_own_type

# The pause between two look-ups: long enough for a transaction to arrive and to spread to other nodes.
LOOK_MS = 2_000
# The maximum number of look-ups after a send. More for a receipt, because it exists only once a block is mined.
MAX_LOOKS = 3
MAX_RECEIPT_LOOKS = 30
# Failures with which the node rejects the transaction. It may have accepted the same transaction before.
REJECTED_BY_NODE = frozenset({"txRejected", "revert"})
_HASH = re.compile(r"0x[\da-fA-F]{64}", re.ASCII)


def write_steps(
    call: Call, tx_hash: str, redacted_url: str, sender: Sender, settings: CallSettings, deadline: Deadline
) -> Steps:
    """Send a signed transaction, and look it up if it is unknown whether it arrived.

    The hash is looked up after "already known", after a rejection by the node, and after a failure that may have happened once the
    transaction had arrived. The transaction is sent once. With ``resends`` it is sent again if two look-ups, 2 s apart, do not find
    it. One attempt to send takes at most half of the time limit, which leaves time for the look-ups.

    Args:
        call: The call.
        tx_hash: The hash of the transaction.
        redacted_url: The URL of the endpoint without its secrets.
        sender: Sends the call and the look-ups.
        settings: The settings of calls.
        deadline: The deadline of all of them.

    """
    method = call.method
    sync = TABLE[method].get("lookUp") == "receipt"
    own_type = has_own_type(json.loads(call.params)[0])
    resent = 0
    # With several endpoints, look-ups go to the one that accepted the transaction.
    group = Group()

    def failed(failure: KeyrailError) -> list[Any]:
        return [replace_fields(failure, transaction_hash=tx_hash)]

    def unconfirmed(after: KeyrailError) -> list[Any]:
        text = f"it is unknown whether transaction {tx_hash} arrived ({after.kind})"
        failure = create_failure(
            Facts(kind="unconfirmed", text=text), method=method, redacted_url=after.redacted_url or redacted_url
        )
        return failed(replace_fields(failure, status=after.status, rpc_error=after.rpc_error))

    while True:
        attempt_ms = deadline.left_ms() / 2
        (outcome,) = yield from call_steps(call, sender, settings, deadline, attempt_ms=attempt_ms, group=group)
        sent_to = group.at
        if isinstance(outcome, Result):
            member = "transactionHash" if sync else None
            if _has_hash(outcome.value, member, tx_hash) or (own_type and _has_hash(outcome.value, member)):
                return [outcome]
            text = "the server responded with the hash of another transaction"
            failure = create_failure(Facts(kind="badResponse", text=text), method=method, redacted_url=redacted_url)
        else:
            failure = outcome
            if is_rejected_before_run(failure):
                return failed(failure)
        looks = absent = 0
        while True:
            look_up = "eth_getTransactionReceipt" if sync else "eth_getTransactionByHash"
            own = Call(look_up, json.dumps([tx_hash]), call.observed, call.priority or "write")
            (found,) = yield from call_steps(own, sender, settings, deadline, group=group)
            if isinstance(found, Result) and _has_hash(found.value, "transactionHash" if sync else "hash", tx_hash):
                return [Result(found.value if sync else tx_hash)]
            looks += 1
            absent += isinstance(found, Result) and found.value is None
            if failure.kind in REJECTED_BY_NODE:
                # The node that rejected the transaction does not know it, or two others do not.
                if absent > 1 or (absent and group.at == sent_to):
                    return failed(failure)
            elif absent > 1 and not sync and resent < settings.resends:
                resent += 1
                break
            done = looks >= MAX_RECEIPT_LOOKS if sync else absent > 1 or looks >= MAX_LOOKS
            if done or deadline.left_ms() <= LOOK_MS:
                return unconfirmed(failure)
            yield Pause(LOOK_MS)


def _has_hash(value: Any, member: str | None, tx_hash: str | None = None) -> bool:
    if member is not None:
        value = value.get(member) if isinstance(value, dict) else None
    if not isinstance(value, str):
        return False
    return bool(_HASH.fullmatch(value)) if tx_hash is None else value.lower() == tx_hash
