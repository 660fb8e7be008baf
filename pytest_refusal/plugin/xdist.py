"""What crosses between the processes of xdist beside the outcomes, which reports carry."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pytest_refusal.errors import SettingsError
from pytest_refusal.plugin.arguments import NOTHING_ASKED
from pytest_refusal.plugin.asking import AskingReport, Workers

if TYPE_CHECKING:
    from pytest_refusal.plugin.arrivals import Arrivals
    from pytest_refusal.plugin.run import Run
    from pytest_refusal.plugin.trial_ids import TrialIds

_DESELECTED = "refusal_deselected"
_ASKING = "refusal_asked"


class WorkerSide:
    """Tells the controller what only a worker sees."""

    def __init__(self, config: pytest.Config, run: Run, ids: TrialIds) -> None:
        self._output: dict[str, object] = getattr(config, "workeroutput", {})
        self._run = run
        self._ids = ids
        self._deselected: set[str] = set()

    @pytest.hookimpl
    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Take the trials of tests that were left out on request."""
        self._deselected.update(filter(None, (self._ids.of(item.nodeid) for item in items)))

    @pytest.hookimpl
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Stop asking; say what it came to, and for how many trials no test is left."""
        self._run.asking.close()
        self._output[_ASKING] = self._run.asking.report().plain()
        if self._deselected:
            kept = {self._ids.of(item.nodeid) for item in session.items}
            self._output[_DESELECTED] = len(self._deselected - kept)


class ControllerSide:
    """Tells the workers how to ask; hears what they collected, left out and asked."""

    def __init__(self, config: pytest.Config, run: Run, arrivals: Arrivals, ids: TrialIds) -> None:
        self._config = config
        self._run = run
        self._arrivals = arrivals
        self._ids = ids
        self._workers = Workers(config, run.asking.options)
        self._collected = 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: object) -> None:
        """Tell a worker how to ask."""
        self._workers.tell(node)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: object) -> object:
        """Hand prompts out so that workers can look ahead, where xdist's own way is wanted."""
        asker = self._run.asking.asker
        is_default = config.getvalue("dist") == "load" and not config.getvalue("maxschedchunk")
        if not is_default or not asker.asks_ahead:
            return None
        from pytest_refusal.plugin.scheduling import AheadScheduling

        def window(node_id: str) -> int:
            key = self._ids.of(node_id)
            return 0 if key is None else asker.window(self._run.trials[key].policy)

        return AheadScheduling(config, log, window=window)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: Sequence[str]) -> None:  # noqa: ARG002  # xdist's
        """Plan what a worker collected; all collect the same."""
        self._arrivals.plan(ids)
        if self._run.must_ask_tests and not self._arrivals.are_any_planned:
            raise pytest.UsageError(NOTHING_ASKED)
        self._collected += 1
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if not self._arrivals.are_any_planned or self._run.dry or terminal is None:
            return
        if self._collected == self._workers.count:
            processes = self._workers.count
            for line in self._run.asking.planned(self._arrivals.planned(), processes=processes):
                terminal.ensure_newline()
                terminal.write_line(line)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:  # noqa: ARG002  # xdist's
        """Take the number of prompts that a worker left out; a crashed one does not say."""
        output = getattr(node, "workeroutput", None) or {}
        self._arrivals.count_deselected(output.get(_DESELECTED, 0))
        if _ASKING in output:
            self._arrivals.hear(AskingReport.from_plain(output[_ASKING]))

    @pytest.hookimpl
    def pytest_unconfigure(self) -> None:
        """Put the recording in order, now that nobody writes to it any more."""
        self._workers.close()
        recording = self._run.asking.recording
        if recording is not None and not self._run.dry:
            # What somebody else made of the file meanwhile is left to the next run to refuse;
            # where no file can be put in its place, it stays in the order of its writing.
            with suppress(SettingsError, OSError):
                recording.tidy()
