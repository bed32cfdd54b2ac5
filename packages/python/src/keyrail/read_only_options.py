"""Makes the options of a provider read-only."""

from __future__ import annotations

from typing import Any

from .failure.check import invalid
from .transport.parse_options import HTTP_PROVIDER_NAMES, OPTION_NAMES


class ReadOnlyOptions:
    """Rejects assignments to options, and to attributes of web3.py's HTTP providers that have no effect here.

    ``cache_allowed_requests``, ``cacheable_requests`` and ``request_cache_validation_threshold`` can be set at any time.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        option = name if name in OPTION_NAMES else HTTP_PROVIDER_NAMES.get(name)
        if option is not None:
            # The value may be a key, and error reporters show the variables of frames.
            del value
            raise invalid(f"Setting {name} has no effect on an existing provider. Pass {option}= when you create it.")
        super().__setattr__(name, value)
