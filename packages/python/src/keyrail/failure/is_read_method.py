"""The methods that may be sent twice."""

import json
from importlib.resources import files

READ_METHODS: frozenset[str] = frozenset(json.loads(files(__package__).joinpath("readMethods.json").read_text("utf-8")))
"""The names of the reads."""


def is_read_method(method: str) -> bool:
    """Check whether a method may be sent again when it is not known whether the first request arrived.

    Only known reads may: those in `readMethods.json`, which the TypeScript packages use too. Every other method may change
    something, so it is never sent twice, even if its name suggests a read.

    Args:
        method: A JSON-RPC method, compared exactly.

    """
    return method in READ_METHODS
