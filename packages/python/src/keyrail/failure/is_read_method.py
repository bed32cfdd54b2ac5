"""The methods that may be sent twice."""

from ..methods import find_methods

_READS = find_methods("access", "read")


def is_read_method(method: str) -> bool:
    """Check whether a method may be sent again when it is not known whether the first request arrived.

    Only known reads may: those of the table of methods, which the TypeScript packages use too. Every other method may change
    something, so it is never sent twice, even if its name suggests a read.

    Args:
        method: A JSON-RPC method, compared exactly.

    """
    return method in _READS
