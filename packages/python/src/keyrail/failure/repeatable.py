"""Which methods may be sent again."""

import re
from functools import lru_cache

_READS = re.compile(
    r"(net_|web3_|txpool_|trace_|eth_(a|b|c[^a]|f|ga|h|m|pro|s[iy][^g])|debug_([adeip]|tr|stora)"
    r"|[^_]+_(get(?!FilterC)|call|estimate|is|has)(?![a-z]))"
)


@lru_cache(maxsize=256)
def repeatable(method: str) -> bool:
    """Tell whether a method may be sent again when it is not known whether the first one arrived.

    True for what only reads; false for what sends, signs, submits, changes the node, makes a filter, or consumes what it
    reads, and for every name that is not known to be a read.

    Args:
        method: A JSON-RPC method.

    """
    return _READS.match(method) is not None
