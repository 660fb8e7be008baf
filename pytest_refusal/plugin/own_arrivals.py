"""What became of the trials that people's own tests asked, until it is settled with the items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from pytest_refusal.escape import one_line
from pytest_refusal.outcome import Outcome, Trial, Unevaluated, from_wire


class OwnArrivals:
    """Gathers by test, since several may ask one trial, each in a process of its own.

    asked: the trial of each planned test, by node id.
    """

    def __init__(self, trials: Mapping[str, Trial]) -> None:
        self._trials = trials
        self.asked: dict[str, str] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._failed: set[str] = set()
        self._skipped: dict[str, str] = {}
        self._reruns: Counter[str] = Counter()

    def take(self, report: pytest.TestReport, arrived: Outcome | str | None) -> None:
        """Take a report; the last attempt counts."""
        node_id = report.nodeid
        if node_id not in self.asked:
            return
        trial = self._trials[self.asked[node_id]]
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # of rerunfailures
            self._reruns[node_id] += 1
        elif arrived is not None:
            outcome = from_wire(arrived, trial) if isinstance(arrived, str) else arrived
            if reruns := self._reruns[node_id]:
                outcome = replace(outcome, reruns=reruns)
            self._outcomes[node_id] = outcome
            if report.failed and isinstance(outcome, Unevaluated):
                self._failed.add(node_id)
        elif report.skipped:
            self._skipped[node_id] = one_line(skip_reason(report))
        elif report.failed and report.when != "teardown" and node_id not in self._outcomes:
            # The worker crashed, or something else went wrong before the policy was asked.
            crashed = report.when not in ("setup", "call")
            self._outcomes[node_id] = Unevaluated(
                trial=trial,
                reason="crash" if crashed else "error",
                error=one_line(_crash_message(report), 200),
            )

    def outcomes(self) -> Iterator[tuple[str, Outcome]]:
        """Yield trials and outcomes, of each trial first the one that counts.

        That is the one of the test whose node id comes first, which does not depend on who
        was faster.
        """
        for node_id in sorted(self._outcomes):
            yield self.asked[node_id], self._outcomes[node_id]

    def unevaluated(self) -> Iterator[str]:
        """Yield the trial of each test that failed for want of a verdict."""
        return (self.asked[node_id] for node_id in self._failed)

    def skipped(self) -> Iterator[tuple[str, str]]:
        """Yield the trial of each test that was skipped, and why."""
        return ((self.asked[node_id], why) for node_id, why in self._skipped.items())

    def pending(self) -> Iterator[str]:
        """Yield the trial of each test of which nothing arrived."""
        for node_id, key in self.asked.items():
            if node_id not in self._outcomes and node_id not in self._skipped:
                yield key


def skip_reason(report: pytest.TestReport) -> str:
    """Say why a test was skipped, or that it was to fail."""
    longrepr = report.longrepr
    if hasattr(report, "wasxfail"):
        return f"xfail: {report.wasxfail}"
    reason = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
    return reason.removeprefix("Skipped: ")


def _crash_message(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message if crash is not None else str(report.longrepr)
