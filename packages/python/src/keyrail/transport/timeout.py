"""A time limit for asynchronous code.

``asyncio.wait_for`` is not used: before Python 3.12, it ignores a cancellation that comes together with the result.
"""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    from asyncio import timeout
else:
    # aiohttp has the same dependency.
    from async_timeout import timeout

__all__ = ["timeout"]
