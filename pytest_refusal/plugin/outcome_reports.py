"""Completes the reports of prompts, around everybody else's hooks."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from contextlib import suppress

import pytest

from pytest_refusal.escape import one_line
from pytest_refusal.plugin.item import PromptItem
from pytest_refusal.plugin.run import Run, is_worker
from pytest_refusal.registry import close_classifier


class OutcomeReports:
    """Puts the outcomes of prompts on the reports of their items."""

    def __init__(self, config: pytest.Config, run: Run) -> None:
        self._run = run
        self._home = None if is_worker(config) else os.getpid()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Make the event loops while nothing forbids the sockets that they need."""
        if not self._run.as_items and not self._run.shared.is_needed:
            return (yield)
        if not self._run.dry:
            # If one cannot be made, the first async policy says why.
            with suppress(OSError, RuntimeError):
                self._run.asking.asker.open_loops()
        # The collector of garbage would go through all prompts and items again and again.
        freezes = gc.get_freeze_count() == 0
        if freezes:
            gc.freeze()
        try:
            return (yield)
        finally:
            if freezes:
                gc.unfreeze()

    # The innermost wrapper: plugins that look at the report, such as Allure's, see our text.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Complete the reports of our items; leave those of others alone."""
        report = yield
        if isinstance(item, PromptItem):
            # Some plugins run an item in a process that they fork.
            item.complete_report(report, call, crosses=os.getpid() != self._home)
        return report

    @pytest.hookimpl
    def pytest_unconfigure(self) -> None:
        """End what the classifiers hold open."""
        for classifier in self._run.classifiers.values():
            close_classifier(classifier)


class SafeReasons:
    """Makes safe what pytest itself puts on the reports of prompts behind our back."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Make the reason of an xfail safe, which pytest takes from whoever raised it."""
        report = yield
        if isinstance(item, PromptItem) and hasattr(report, "wasxfail"):
            report.wasxfail = one_line(report.wasxfail)
        return report
