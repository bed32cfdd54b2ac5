"""Two endpoints, one of which fails."""

from __future__ import annotations

import math
import time

from keyrail import Breaker, Endpoint, Failover, KeyrailProvider
from keyrail.testing import MockNode
from web3 import Web3

with MockNode(chain_id=1) as main, MockNode(chain_id=1) as spare:
    endpoints = [Endpoint(main.url, name="main"), Endpoint(spare.url, name="spare")]
    # The circuit breaker opens for 5 s by default.
    failover = Failover(breaker=Breaker(failures=3, open_ms=500))
    with KeyrailProvider(endpoints=endpoints, failover=failover, chain_id=1, stats=True) as provider:
        w3 = Web3(provider)

        def show(when: str) -> None:
            """Make ten calls and print where they were sent."""
            before = len(main.calls()), len(spare.calls())
            for _ in range(10):
                w3.eth.get_block("latest")
            health = provider.stats().endpoint_states[0].health
            state = health.state if health else "unknown"
            sent = len(main.calls()) - before[0], len(spare.calls()) - before[1]
            print(f"{when}: {sent[0]} calls to main, {sent[1]} to spare, the circuit breaker of main is {state}")

        show("both work")
        main.fail("unavailable", times=math.inf)
        show("main fails")
        main.clear_faults()
        time.sleep(1)
        show("main works again")
