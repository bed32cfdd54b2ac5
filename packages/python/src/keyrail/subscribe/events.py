"""The events of subscriptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias


@dataclass(slots=True, frozen=True)
class BlockEvent:
    """A new block."""

    header: Any
    """The header as web3.py formats it: without transactions, size, uncles and withdrawals."""
    type: Literal["block"] = "block"


@dataclass(slots=True, frozen=True)
class LogEvent:
    """A log of a new block."""

    log: Any
    """The log as web3.py formats it."""
    type: Literal["log"] = "log"


@dataclass(slots=True, frozen=True)
class ReorgEvent:
    """The chain was reorganized: blocks that were reported have been replaced. What replaces them follows."""

    ancestor: Any
    """The number and hash of the newest block that both chains have."""
    removed: Sequence[Any]
    """What this subscription reported above the ancestor, newest first, as it was reported. Logs have ``removed`` True. Blocks that an
    earlier process reported are not in the list."""
    type: Literal["reorg"] = "reorg"


@dataclass(slots=True, frozen=True)
class TransactionEvent:
    """A transaction has entered the pool of the node."""

    hash: Any
    """Its hash."""
    type: Literal["transaction"] = "transaction"


SubscriptionEvent: TypeAlias = BlockEvent | LogEvent | ReorgEvent | TransactionEvent
"""An event of a subscription. Branch on ``type`` or on the class."""
