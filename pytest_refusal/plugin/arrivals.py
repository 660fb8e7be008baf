"""What is planned in a session, and what became of it so far.

Lives where the session is concluded: in the only process, or in the controller of xdist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pytest

from pytest_refusal.execution.meter import Meter
from pytest_refusal.outcome import Evaluated, Outcome, Trial, Unevaluated, from_wire
from pytest_refusal.plugin.asking import AskingReport
from pytest_refusal.plugin.own_arrivals import OwnArrivals, skip_reason
from pytest_refusal.plugin.report_parts import OUTCOME
from pytest_refusal.plugin.run import Run
from pytest_refusal.plugin.trial_ids import TrialIds
from pytest_refusal.report.report import Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyArrivals:
    """What became of the trials of one policy; each list in the order of the corpora.

    collected: how many trials there are, selected or not.  not_run: selected, and never heard of.
    """

    collected: int
    outcomes: Sequence[Outcome]
    skipped: Sequence[Skipped]
    not_run: Sequence[Trial]


class Arrivals:
    """Gathers what became of every planned trial.

    selected, failed: node ids of trials.  outcomes, skipped: by node id; a skipped one with its
    reason.  failures: how many reports of pytest failed on account of a trial.
    crashes: how many trials were lost with a worker.  meters: what asking took, by policy.
    judging: what asking their judges took.
    stopped: why a policy is asked no more.
    """

    def __init__(self, run: Run, ids: TrialIds) -> None:
        self._run = run
        self._ids = ids
        self._own = OwnArrivals(run.trials)
        self._reruns: Counter[str] = Counter()
        self._deselected: set[str] = set()
        self._deselected_by_workers = 0
        self.selected: set[str] = set()
        self.outcomes: dict[str, Outcome] = {}
        self.skipped: dict[str, str] = {}
        self.failed: set[str] = set()
        self.failures = 0
        self.crashes = 0
        self.meters: dict[str, Meter] = {}
        self.judging: dict[str, Meter] = {}
        self.stopped: str | None = None

    # What is planned

    def plan(self, node_ids: Iterable[str]) -> None:
        """Take the collected items, ours and others."""
        for node_id in node_ids:
            if (key := self._ids.of_item(node_id)) is not None:
                self.selected.add(key)
            elif (key := self._ids.of_own_test(node_id)) is not None:
                self._own.asked[node_id] = key

    @property
    def are_any_planned(self) -> bool:
        """Whether any test is to ask."""
        return bool(self.selected or self._own.asked)

    def count_deselected(self, count: int) -> None:
        """Take how many trials a worker left out; all workers leave out the same."""
        self._deselected_by_workers = max(self._deselected_by_workers, count)

    @pytest.hookimpl
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Plan what was collected here; the controller of xdist collects nothing."""
        self.plan(item.nodeid for item in session.items)

    @pytest.hookimpl
    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Take the trials of tests that were left out on request."""
        self._deselected.update(filter(None, (self._ids.of(item.nodeid) for item in items)))

    def planned(self) -> Iterator[Trial]:
        """Yield the trials that are to run, in order."""
        keys = self.selected.union(self._own.asked.values())
        return (trial for key, trial in self._run.trials.items() if key in keys)

    # What arrives

    def hear(self, told: AskingReport) -> None:
        """Take what one process says about its asking."""
        for name, meter in told.meters.items():
            self.meters.setdefault(name, Meter()).add(meter)
        for name, meter in told.judging.items():
            self.judging.setdefault(name, Meter()).add(meter)
        self.stopped = self.stopped or told.stopped
        recording = self._run.asking.recording
        if recording is not None:
            recording.use(told.used)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the outcome of a trial; the last attempt counts."""
        # Off the report, since whatever else takes reports may want to write them out.
        arrived: Outcome | str | None = report.__dict__.pop(OUTCOME, None)
        key = self._ids.of_item(report.nodeid)
        if key is None:
            self._own.take(report, arrived)
            return
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # of rerunfailures
            self._reruns[key] += 1
        elif report.skipped and arrived is None:
            self.skipped[key] = skip_reason(report)
        elif arrived is not None:
            trial = self._run.trials[key]
            outcome = from_wire(arrived, trial) if isinstance(arrived, str) else arrived
            if reruns := self._reruns.get(key):
                outcome = replace(outcome, reruns=reruns)
            self.outcomes[key] = outcome
            # A right verdict that is a failure all the same is an xfail that somebody made strict.
            if report.failed and not (isinstance(outcome, Evaluated) and outcome.correct):
                self.failed.add(key)
                self.failures += 1
        elif report.failed and report.when != "teardown":
            # A crashed worker sends no outcome; a real one, before or after, stands above this.
            crash = Unevaluated(
                trial=self._run.trials[key], reason="crash", error=str(report.longrepr)
            )
            self.outcomes.setdefault(key, crash)
            self.crashes += report.when == "???"  # type: ignore[comparison-overlap]  # of xdist

    def settle_own_tests(self) -> None:
        """Count what people's own tests asked, each trial once; that of an item stands above."""
        for key, outcome in self._own.outcomes():
            self.outcomes.setdefault(key, outcome)
        for key in self._own.unevaluated():
            if isinstance(self.outcomes[key], Unevaluated):
                self.failed.add(key)
                self.failures += 1
        # Left out is what no test of any kind was left to ask.
        for key, why in self._own.skipped():
            if key not in self.selected:
                self.skipped[key] = why
        for key in self._own.pending():
            self.skipped.pop(key, None)
        self.selected.update(self._own.asked.values())

    def so_far(self) -> Sequence[Outcome]:
        """Return the outcomes that are there already."""
        return tuple({**dict(self._own.outcomes()), **self.outcomes}.values())

    def planned_count(self) -> int:
        """Return how many trials were selected."""
        return len(self.selected.union(self._own.asked.values()))

    @property
    def deselected_count(self) -> int:
        """How many trials are left without a test, on request."""
        return len(self._deselected - self.selected) or self._deselected_by_workers

    @property
    def settled_count(self) -> int:
        """How many trials came to an end."""
        return len(self.outcomes.keys() | self.skipped.keys())

    def of_policy(self, name: str) -> PolicyArrivals:
        """Return what became of the trials of one policy."""
        outcomes: list[Outcome] = []
        not_run: list[Trial] = []
        skipped: list[Skipped] = []
        collected = 0
        for key, trial in self._run.trials.items():
            if trial.policy != name:
                continue
            collected += 1
            if key in self.outcomes:
                outcomes.append(self.outcomes[key])
            elif key in self.skipped:
                skipped.append(Skipped(trial=trial, why=self.skipped[key]))
            elif key in self.selected:
                not_run.append(trial)
        return PolicyArrivals(
            collected=collected, outcomes=outcomes, skipped=skipped, not_run=not_run
        )
