"""The running rates, redrawn below pytest's progress while a long run goes on.

Off where somebody reads the output otherwise: no terminal, `-v`, `-q` or `-s`.
"""

from __future__ import annotations

import os
from time import monotonic

import pytest

from pytest_refusal.plugin.arrivals import Arrivals
from pytest_refusal.plugin.run import Run
from pytest_refusal.plugin.terminal import encoding_of
from pytest_refusal.report.running import running_line

# A run that ends before the first needs no such line; each costs a look at all outcomes.
_SECONDS_BETWEEN = 1.0

_ERASE_RIGHT = "\x1b[K"
_UP = "\x1b[1A"


def wants_live_line(config: pytest.Config) -> bool:
    """Whether somebody watches a terminal on which a line can be redrawn."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return (
        reporter is not None
        and reporter.isatty
        and config.get_verbosity() == 0
        and config.option.capture != "no"
        and os.environ.get("TERM", "dumb") != "dumb"
    )


class LiveLine:
    """Writes on the line below the cursor and puts the cursor back."""

    def __init__(self, config: pytest.Config, run: Run, arrivals: Arrivals) -> None:
        self._reporter: pytest.TerminalReporter = config.pluginmanager.getplugin("terminalreporter")
        self._run = run
        self._arrivals = arrivals
        self._drawn_at = monotonic()
        self._is_drawn = False

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self) -> None:
        """Redraw, at most once in a while; nothing where no prompt is asked."""
        if not self._arrivals.are_any_planned:
            return
        if monotonic() - self._drawn_at < _SECONDS_BETWEEN:
            # Progress that reached the line of ours is written over it.
            if self._is_drawn:
                self._reporter._tw.write_raw(_ERASE_RIGHT, flush=True)  # noqa: SLF001  # no public way
            return
        width = self._reporter._tw.fullwidth - 1  # noqa: SLF001  # no public way
        text = running_line(
            self._arrivals.so_far(),
            planned=self._arrivals.planned_count(),
            width=width,
            encoding=encoding_of(self._reporter),
        )
        self._draw(text)
        self._is_drawn = True
        self._drawn_at = monotonic()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Take the line away before anything else is written."""
        if self._is_drawn:
            self._draw("")
            self._is_drawn = False

    def _draw(self, text: str) -> None:
        writer = self._reporter._tw  # noqa: SLF001  # no public way
        column = writer.width_of_current_line + 1
        # A line feed scrolls at the bottom of the screen, and going up follows the scrolling.
        writer.write_raw(f"{_ERASE_RIGHT}\n{_ERASE_RIGHT}{text}{_UP}\r\x1b[{column}G", flush=True)
