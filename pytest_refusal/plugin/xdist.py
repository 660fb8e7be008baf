"""What crosses between the processes of xdist beside the outcomes, which reports carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_refusal.plugin.item import PromptItem

if TYPE_CHECKING:
    from pytest_refusal.plugin.run import Run
    from pytest_refusal.plugin.session import RefusalSession

_DESELECTED = "refusal_deselected"


class WorkerSide:
    """Tells the controller what only a worker sees."""

    def __init__(self, config: pytest.Config, run: Run) -> None:
        self._output: dict[str, object] = getattr(config, "workeroutput", {})
        self._run = run

    @pytest.hookimpl
    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count the prompts that were left out on request."""
        count = sum(isinstance(item, PromptItem) for item in items)
        before = self._output.get(_DESELECTED, 0)
        self._output[_DESELECTED] = count + (before if isinstance(before, int) else 0)

    @pytest.hookimpl
    def pytest_sessionfinish(self) -> None:
        """Stop asking."""
        self._run.loop.close()


class ControllerSide:
    """Hears what the workers collected and left out."""

    def __init__(self, session: RefusalSession) -> None:
        self._session = session

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: Sequence[str]) -> None:  # noqa: ARG002  # xdist's
        """Plan what a worker collected; all collect the same."""
        self._session.plan(ids)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:  # noqa: ARG002  # xdist's
        """Take the number of prompts that a worker left out; a crashed one does not say."""
        output = getattr(node, "workeroutput", None) or {}
        self._session.count_deselected(output.get(_DESELECTED, 0))
