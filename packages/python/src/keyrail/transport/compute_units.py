"""The cost of methods at an endpoint that counts compute units rather than requests."""

from ..methods import TABLE, to_namespace

# Providers publish different tables, but agree on the order. The numbers are on the scale that most providers use (a plain read is 20).
_UNITS: dict[str, float] = {name: row["units"] for name, row in TABLE.items() if "units" in row}
_OTHER_METHODS = 20


def get_compute_units(method: str) -> float:
    """Return the compute units of one call of a method."""
    return _UNITS.get(method) or _UNITS.get(to_namespace(method), _OTHER_METHODS)
