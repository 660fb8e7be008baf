"""The time that a prompt takes, which stands still while the prompt waits for its turn.

Prompts are asked ahead of the one that is judged: those that wait behind others would else run
out of time before anybody was asked.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from time import perf_counter


class Clock:
    """The time of one prompt.  deadline: where its time is up; put off by what it waited."""

    def __init__(self, deadline: asyncio.Timeout) -> None:
        self._deadline = deadline
        self._started = perf_counter()
        self._waited_s = 0.0
        self._held_since: float | None = None
        self._left_s: float | None = None

    @property
    def seconds(self) -> float:
        """The time since it was made, without that in which it was held."""
        return perf_counter() - self._started - self._waited_s

    def hold(self) -> None:
        """Stand still until `go_on`."""
        self._held_since = perf_counter()
        due = self._deadline.when()
        if due is not None and not self._deadline.expired():
            self._left_s = due - asyncio.get_running_loop().time()
            self._deadline.reschedule(None)

    def go_on(self) -> None:
        """Run again, if it was held."""
        if self._held_since is not None:
            self._waited_s += perf_counter() - self._held_since
            self._held_since = None
        if self._left_s is not None:
            self._deadline.reschedule(asyncio.get_running_loop().time() + self._left_s)
            self._left_s = None


#: That of the prompt for which a task asks; None where nobody looks at it.
CLOCK: ContextVar[Clock | None] = ContextVar("clock", default=None)
