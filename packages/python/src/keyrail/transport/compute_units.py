"""The cost of methods at an endpoint that counts compute units rather than requests."""

from __future__ import annotations

import re

# Providers publish different tables, but agree on the order. The numbers are on the scale that most providers use (a plain read is 20),
# and the same as in TypeScript.
_TABLE = (
    # Constants. Some providers charge nothing for them, but each is still a request.
    (1, re.compile(r"(eth_(chainId|accounts|protocolVersion|syncing)|net_|web3_)")),
    # One number that the node has in memory.
    (
        10,
        re.compile(
            r"eth_(blockNumber|gasPrice|maxPriorityFeePerGas|blobBaseFee|baseFee|feeHistory|newBlockFilter|uninstallFilter)\Z"
        ),
    ),
    # Runs a contract.
    (26, re.compile(r"eth_(call|estimateGas|createAccessList)\Z")),
    (40, re.compile(r"eth_(sendRawTransaction|simulateV1)")),
    # Scans many blocks, or returns all of one.
    (75, re.compile(r"eth_get(Logs|Filter|Proof|BlockReceipts)")),
    # Executes a transaction again, or a block of them.
    (300, re.compile(r"(debug|trace)_")),
)
_OTHER_METHODS = 20


def get_compute_units(method: str) -> float:
    """Return the compute units of one call of a method."""
    return next((units for units, methods in _TABLE if methods.match(method)), _OTHER_METHODS)
