"""What both providers share: the redacted URL, read-only options, and copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Self

from .failure.check import invalid
from .observe.observer import Observer
from .observe.stats import ProviderStats
from .transport.calls import CallFactory
from .transport.fork import start_over_in_child
from .transport.http_provider_options import HTTP_PROVIDER_OPTIONS
from .transport.parse_options import OPTION_NAMES


class CommonProvider:
    """The base class of both providers."""

    _redacted_url: str = ""
    _recreate: Callable[[], Any]
    _observer: Observer | None = None
    _calls: CallFactory

    @property
    def redacted_url(self) -> str:
        """The URL of the endpoint without its secrets. Safe to print."""
        return self._redacted_url

    @property
    def endpoint_uri(self) -> str:
        """The URL of the endpoint without its secrets, under the name that web3.py uses."""
        return self._redacted_url

    def stats(self) -> ProviderStats:
        """Return what the provider has done so far. Safe to print: no keys, params or results.

        Raises:
            KeyrailError: With kind ``invalidRequest`` if the provider was created without ``stats=True``.

        """
        if self._observer is None:
            raise invalid("This provider counts nothing. Pass stats=True when you create it.")
        start_over_in_child()
        return self._observer.snapshot(self._calls.get_endpoint_states())

    def _start_over_observing(self) -> None:
        if self._observer is not None:
            self._observer.after_fork()

    def _keep_options(self, options: Mapping[str, Any]) -> None:
        # A function, because its variables are not attributes: a debugger page that shows this object does not show the key.
        self._recreate = lambda: type(self)(**options)

    def __setattr__(self, name: str, value: Any) -> None:
        option = f"{name}=" if name in OPTION_NAMES else HTTP_PROVIDER_OPTIONS.get(name)
        if option is not None:
            # The value may be a key, and error reporters show the variables of frames.
            del value
            raise invalid(f"Setting {name} has no effect on an existing provider. Pass {option} when you create it.")
        super().__setattr__(name, value)

    def __copy__(self) -> Self:
        """Create a provider with the same options, and connections of its own."""
        created: Self = self._recreate()
        for name, value in vars(self).items():
            # Such as web3.py's cache settings, which can be changed after the provider was created.
            if not name.startswith("_") and name != "request_counter":
                setattr(created, name, value)
        return created

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"cannot pickle {type(self).__name__!r} object, because the API key would be part of the pickle. "
            "Create a provider in each process, or fork: a forked process can use the provider of its parent."
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._redacted_url})"

    __str__ = __repr__
