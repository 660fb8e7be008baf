"""How many requests of one policy may be under way, and when the next may start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

# After this many successes in a row, one more request at a time is tried again.
_SUCCESSES_TO_SPEED_UP = 5

# About the time of this process that a response takes.  Requests that start together are
# answered together, and each place then stands empty until all of the replies were dealt with.
_APART_S = 0.0015


class Pace:
    """Bounds the requests under way: fewer when the server asks, slowly more again after.

    One rate limit slows everybody down, not only the one who met it.  Waiters are served in
    the order in which they came.  Belongs to one event loop.
    """

    def __init__(self, concurrency: int) -> None:
        self._most = concurrency
        self._allowed = concurrency
        self._under_way = 0
        self._successes = 0
        self._slow_downs = 0
        self._not_before = 0.0
        self._next_start = 0.0
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def allowed(self) -> int:
        """How many requests may be under way now."""
        return self._allowed

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[int]:
        """Wait until one more request may start, and hold its place while it runs.

        Starts are a moment apart.
        Gives the number of slow-downs so far, for `slow_down`.
        """
        await self._enter()
        try:
            await self._wait_to_start()
            yield self._slow_downs
        finally:
            self._under_way -= 1
            self._wake()

    def succeeded(self) -> None:
        """Note a response; enough of them in a row allow one more request at a time."""
        self._successes += 1
        if self._successes >= _SUCCESSES_TO_SPEED_UP and self._allowed < self._most:
            self._successes = 0
            self._allowed += 1
            self._wake()

    def slow_down(self, wait_s: float, *, started_at: int) -> None:
        """Halve the requests at a time, and start none within `wait_s` seconds.

        started_at: what `turn` gave.  Requests that were under way together and are all turned
        away are one event, and halve once.
        """
        if started_at == self._slow_downs:
            self._slow_downs += 1
            self._successes = 0
            self._allowed = max(1, self._allowed // 2)
        self._not_before = max(self._not_before, asyncio.get_running_loop().time() + wait_s)

    async def _wait_to_start(self) -> None:
        loop = asyncio.get_running_loop()
        start = -1.0
        while start < self._not_before:  # which may be put off meanwhile
            now = loop.time()
            start = max(now, self._next_start, self._not_before)
            self._next_start = start + _APART_S
            if start > now:
                await asyncio.sleep(start - now)

    async def _enter(self) -> None:
        if self._under_way < self._allowed and not self._waiting:
            self._under_way += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._under_way -= 1
            else:
                self._waiting.remove(place)
            self._wake()
            raise

    def _wake(self) -> None:
        while self._waiting and self._under_way < self._allowed:
            place = self._waiting.pop(0)
            if not place.done():
                self._under_way += 1
                place.set_result(None)
