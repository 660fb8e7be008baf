"""How the controller of xdist hands prompts out, so that every worker can look ahead to the end.

xdist's own way gives a worker ever less as the run nears its end, down to two tests: those
that are asked ahead then go out one after the other.  Imported only where xdist runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdist.scheduler import LoadScheduling


class AheadScheduling(LoadScheduling):  # type: ignore[misc]  # xdist has no types
    """`--dist load`, but a worker holds at least as many prompts as it may ask ahead.

    window: how many prompts a worker needs in hand where the next one is this test; 0 for
    tests that are not asked ahead, which are handed out as xdist does.
    """

    def __init__(self, config: pytest.Config, log: Any, *, window: Callable[[str], int]) -> None:
        super().__init__(config, log)
        self._window = window

    def schedule(self) -> None:
        """Hand out the first tests, and fill up where that was too few."""
        super().schedule()
        if self.pending:
            for node in self.nodes:
                self.check_schedule(node)

    def check_schedule(self, node: Any, duration: float = 0) -> None:
        """Give a worker more if it holds too few."""
        window = self._window(self.collection[self.pending[0]]) if self.pending else 0
        if window == 0 or node.shutting_down:
            super().check_schedule(node, duration)
            return
        held = len(self.node2pending[node])
        if held >= max(window, 2):
            return
        # No worker gets so much at the end that the others have nothing left to ask.
        left = len(self.pending) + sum(map(len, self.node2pending.values()))
        fair = -(-left // len(self.node2pending))
        # A worker does not run its last test before it knows what comes after it.
        wanted = max(min(2 * window, fair), 2)
        if wanted > held:
            self._send_tests(node, wanted - held)
