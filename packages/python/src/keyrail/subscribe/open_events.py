"""Opens the events of a subscription, as the node sends them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any

from ..async_provider import AsyncKeyrailProvider
from ..failure.hints import add_hint
from ..message.response import Result
from ..transport.call_options import call_options
from .chain_poller import ChainPoller
from .chain_source import ChainSource
from .events import SubscriptionEvent
from .follow_chain import FollowOptions, follow_chain
from .pending_transactions import follow_pending_transactions
from .poll_schedule import PollSchedule
from .recent_chain import RecentChain
from .recovery import OnError


@dataclass(slots=True, frozen=True)
class EventOptions:
    """How to read events."""

    polling_interval_ms: float | None
    web_socket: bool
    on_error: OnError | None


def open_events(
    provider: AsyncKeyrailProvider,
    options: EventOptions,
    chain: RecentChain | None,
    *,
    logs: Mapping[str, Any] | None = None,
    from_block: int | str | None = None,
) -> AsyncGenerator[SubscriptionEvent, None]:
    """Return the events of blocks or logs, which change the chain; without a chain, those of pending transactions."""

    async def request(method: str, params: list[Any]) -> Any:
        with call_options(priority="poll"):
            outcome = await provider._call(method, params)
        if isinstance(outcome, Result):
            return outcome.value
        raise add_hint(outcome)

    schedule = PollSchedule(options.polling_interval_ms)
    open_socket = provider._open_socket if options.web_socket else None
    if chain is None:
        return follow_pending_transactions(
            request, open_socket, schedule, options.on_error, options.polling_interval_ms
        )
    source = ChainSource(request, logs)
    poller = ChainPoller(chain, source, schedule, from_block)
    return follow_chain(FollowOptions(chain, source, poller, schedule, open_socket, options.on_error))
