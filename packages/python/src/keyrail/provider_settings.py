"""Attributes of web3.py's own HTTP providers that would have no effect on these."""

from __future__ import annotations

from typing import Any

from .failure.check import invalid
from .transport.opened import HTTP_PROVIDER_NAMES, OPTION_NAMES


class ProviderSettings:
    """Rejects the assignment of an attribute that would have no effect: options are read when a provider is created.

    ``cache_allowed_requests``, ``cacheable_requests`` and ``request_cache_validation_threshold`` have an effect at any time.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        option = name if name in OPTION_NAMES else HTTP_PROVIDER_NAMES.get(name)
        if option is not None:
            # The value may be a key, and tracebacks may be shown with the variables of their frames.
            del value
            raise invalid(f"setting {name} has no effect: pass {option}= when you create the provider")
        super().__setattr__(name, value)
