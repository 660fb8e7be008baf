"""Planned trials and arrived outcomes to a report, rulings and the exit status.

Lives where the session is concluded: in the only process, or in the controller of xdist.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_refusal import __version__
from pytest_refusal.errors import ReportError
from pytest_refusal.escape import one_line
from pytest_refusal.execution.meter import Meter
from pytest_refusal.outcome import Evaluated, Outcome, Trial, Unevaluated, from_wire
from pytest_refusal.plugin.allure import add_gates_to_allure
from pytest_refusal.plugin.asking import AskingReport
from pytest_refusal.plugin.audit import write_requested
from pytest_refusal.plugin.gate_reports import announce_gates
from pytest_refusal.plugin.junit import add_suite_properties
from pytest_refusal.plugin.own_arrivals import OwnArrivals, skip_reason
from pytest_refusal.plugin.provenance import command, commit, configuration
from pytest_refusal.plugin.report_parts import OUTCOME
from pytest_refusal.plugin.run import Run
from pytest_refusal.plugin.standing import Standing, judge_standing
from pytest_refusal.plugin.trial_ids import TrialIds
from pytest_refusal.report.conclusion import reasons_to_fail
from pytest_refusal.report.history import PastRun, append_history, read_history, runs_of
from pytest_refusal.report.report import PolicyReport, Report, Skipped
from pytest_refusal.report.writing import write_report
from pytest_refusal.reporting import compare_policies, report_policy, summarise_corpora


class RefusalSession:
    """Gathers what became of every planned trial, and concludes at session finish.

    report: None until the end, and where nothing was asked.
    reasons: why the session fails, each in one line; empty if it does not.
    """

    def __init__(self, config: pytest.Config, run: Run, ids: TrialIds) -> None:
        self._config = config
        self._run = run
        self._ids = ids
        self._own = OwnArrivals(run.trials)
        self._selected: set[str] = set()
        self._outcomes: dict[str, Outcome] = {}
        self._skipped: dict[str, str] = {}
        self._failed: set[str] = set()
        self._reruns: Counter[str] = Counter()
        self._own_failures = 0
        self._crashes = 0
        self._deselected: set[str] = set()
        self._deselected_by_workers = 0
        self._history: tuple[PastRun, ...] = ()
        self._meters: dict[str, Meter] = {}
        self._stopped: str | None = None
        self._ended: str | None = None
        self.report: Report | None = None
        self.reasons: tuple[str, ...] = ()

    # What is planned

    def plan(self, node_ids: Iterable[str]) -> None:
        """Take the collected items, ours and others."""
        for node_id in node_ids:
            if (key := self._ids.of_item(node_id)) is not None:
                self._selected.add(key)
            elif (key := self._ids.of_own_test(node_id)) is not None:
                self._own.asked[node_id] = key

    @property
    def are_any_planned(self) -> bool:
        """Whether any test is to ask."""
        return bool(self._selected or self._own.asked)

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

    def selected(self) -> Iterator[Trial]:
        """Yield the trials that are to run, in order."""
        keys = self._selected.union(self._own.asked.values())
        return (trial for key, trial in self._run.trials.items() if key in keys)

    # What arrives

    def hear(self, told: AskingReport) -> None:
        """Take what one process says about its asking."""
        for name, meter in told.meters.items():
            self._meters.setdefault(name, Meter()).add(meter)
        self._stopped = self._stopped or told.stopped
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
            self._skipped[key] = skip_reason(report)
        elif arrived is not None:
            trial = self._run.trials[key]
            outcome = from_wire(arrived, trial) if isinstance(arrived, str) else arrived
            if reruns := self._reruns.get(key):
                outcome = replace(outcome, reruns=reruns)
            self._outcomes[key] = outcome
            # A right verdict that is a failure all the same is an xfail that somebody made strict.
            if report.failed and not (isinstance(outcome, Evaluated) and outcome.correct):
                self._failed.add(key)
                self._own_failures += 1
        elif report.failed and report.when != "teardown":
            # A crashed worker sends no outcome; a real one, before or after, stands above this.
            crash = Unevaluated(
                trial=self._run.trials[key], reason="crash", error=str(report.longrepr)
            )
            self._outcomes.setdefault(key, crash)
            self._crashes += report.when == "???"  # type: ignore[comparison-overlap]  # of xdist

    def _settle_own_tests(self) -> None:
        """Count what people's own tests asked, each trial once; that of an item stands above."""
        for key, outcome in self._own.outcomes():
            self._outcomes.setdefault(key, outcome)
        for key in self._own.unevaluated():
            if isinstance(self._outcomes[key], Unevaluated):
                self._failed.add(key)
                self._own_failures += 1
        # Left out is what no test of any kind was left to ask.
        for key, why in self._own.skipped():
            if key not in self._selected:
                self._skipped[key] = why
        for key in self._own.pending():
            self._skipped.pop(key, None)
        self._selected.update(self._own.asked.values())

    def arrived(self) -> Sequence[Outcome]:
        """Return the outcomes so far."""
        return tuple({**dict(self._own.outcomes()), **self._outcomes}.values())

    def planned_count(self) -> int:
        """Return how many trials were selected."""
        return len(self._selected.union(self._own.asked.values()))

    # The end

    @pytest.hookimpl
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that somebody called `pytest.exit`, which may set any exit status."""
        if isinstance(excinfo.value, pytest.exit.Exception):
            self._ended = f"pytest.exit: {excinfo.value.msg}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Rule, announce the gates, write the reports and set the exit status."""
        asking = self._run.asking
        asking.close()
        asks = self._run.as_items or self.are_any_planned
        if self._run.dry or not (asks or self._run.must_evaluate):
            return
        if not asks and session.exitstatus == pytest.ExitCode.USAGE_ERROR:
            return
        self.hear(asking.report())
        self._settle_own_tests()
        standing = judge_standing(
            exit_status=int(session.exitstatus),
            stopped=bool(session.shouldfail or session.shouldstop),
            collected=len(self._run.trials),
            selected=len(self._selected),
            deselected=len(self._deselected - self._selected) or self._deselected_by_workers,
            arrived=len(self._outcomes.keys() | self._skipped.keys()),
            narrowed=self._run.narrowed or not asks,
            gate_partial=self._run.gate_partial,
        )
        if standing.all_planned:
            self._selected.update(self._run.trials)
        report = self._make_report(standing)
        reasons = list(self._reasons(report, standing))
        # pytest counted our failures too; what is more than those is not ours to forgive.
        if self._crashes:
            lost = "1 prompt" if self._crashes == 1 else f"{self._crashes} prompts"
            reasons.append(f"{lost} lost to a crash")
        others = session.testsfailed - self._own_failures - self._crashes
        if others > 0:
            reasons.append(f"{others} other failure{'s' if others > 1 else ''}")
        if session.exitstatus == pytest.ExitCode.TESTS_FAILED and (
            self._ended is not None or not session.testsfailed
        ):
            told = self._ended or session.shouldfail or "no test accounts for exit status 1"
            reasons.append(f"failed by others: {one_line(str(told), 200)}")
        report, trouble = self._write_audit(report, standing)
        reasons += trouble
        report = replace(report, reasons=tuple(reasons))
        reasons += self._append_history(report)
        self.report = report = replace(report, history=self._history)
        announce_gates(self._config, report)
        add_gates_to_allure(self._config, report)
        add_suite_properties(self._config, report)
        reasons += [one for path in self._run.report_paths for one in self._write(path)]
        self.reasons = tuple(reasons)
        if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            status = pytest.ExitCode.TESTS_FAILED if reasons else pytest.ExitCode.OK
            session.exitstatus = status

    def _make_report(self, standing: Standing) -> Report:
        policies = tuple(self._policy_report(name, standing) for name in self._run.policies)
        return Report(
            policies=policies,
            comparisons=compare_policies(policies, self._run.settings),
            corpora=summarise_corpora(self._run.prompts, self._run.readings),
            complete=standing.complete,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            notes=(*self._run.notes, *self._recording_notes(standing)),
            versions={
                "pytest-refusal": __version__,
                "pytest": pytest.__version__,
                "python": platform.python_version(),
            },
            command=command(self._config, self._run),
            configuration=configuration(self._config, self._run),
        )

    def _policy_report(self, name: str, standing: Standing) -> PolicyReport:
        run = self._run
        outcomes: list[Outcome] = []
        not_run: list[Trial] = []
        skipped: list[Skipped] = []
        collected = 0
        for key, trial in run.trials.items():
            if trial.policy != name:
                continue
            collected += 1
            if key in self._outcomes:
                outcomes.append(self._outcomes[key])
            elif key in self._skipped:
                skipped.append(Skipped(trial=trial, why=self._skipped[key]))
            elif key in self._selected:
                not_run.append(trial)
        return report_policy(
            name,
            settings=run.settings,
            policy=run.policies[name],
            classifier=run.classifiers[name],
            prompts=run.prompts,
            outcomes=outcomes,
            collected=collected,
            not_run=not_run,
            skipped=skipped,
            why_not_ruled=standing.why_not_ruled,
            baseline=run.baselines.get(name),
            labels=run.labels.get(name, ()),
            meter=self._meters.get(name),
        )

    def _recording_notes(self, standing: Standing) -> Iterator[str]:
        recording = self._run.asking.recording
        if recording is None:
            return
        yield from recording.notes
        whole = standing.complete and len(self._selected) == len(self._run.trials)
        if whole and (unused := recording.unused(self._run.policies)):
            shown = ", ".join(unused[:10]) + (", ..." if len(unused) > 10 else "")
            yield f"{recording.path.name} holds responses that nothing asked for: {shown}"

    def _reasons(self, report: Report, standing: Standing) -> Iterable[str]:
        if self._stopped is not None and not standing.complete:
            yield one_line(self._stopped)
        if standing.lost:
            lost = sum(len(policy.not_run) for policy in report.policies)
            yield f"{lost} planned prompt{'s' if lost > 1 else ''} never came to an end"
        if (
            self._run.must_evaluate
            and not self._outcomes
            and (standing.complete or not self._selected)
        ):
            yield "nothing was evaluated"
        for policy in report.policies:
            failed = [o for o in policy.outcomes if o.trial.node_id in self._failed]
            ceilings = self._run.settings.ceilings_of(policy.policy)
            for reason in reasons_to_fail(policy, failed, ceilings):
                yield f"{policy.policy}: {reason}"

    def _append_history(self, report: Report) -> Iterable[str]:
        path = self._run.history_path
        if path is None:
            return
        try:
            # The rates of a part of the prompts would bend the trend.
            if report.complete and not any(policy.is_partial for policy in report.policies):
                append_history(path, runs_of(report, commit=commit(self._config)))
            self._history = read_history(path)
        except ReportError as error:
            yield f"the history {path} could not be read back: {error}"
        except OSError as error:
            yield f"the history {path} could not be written: {error.strerror or error}"

    def _write_audit(self, report: Report, standing: Standing) -> tuple[Report, tuple[str, ...]]:
        """Return the report with a note about the audit, and why it could not be written."""
        request = self._run.audit
        if request is None:
            return report, ()
        try:
            note = write_requested(request, report, standing)
        except OSError as error:
            why = error.strerror or error
            return report, (f"the audit {request.typed} could not be written: {why}",)
        return replace(report, notes=(*report.notes, note)), ()

    def _write(self, path: Path) -> Iterable[str]:
        if self.report is None:
            return
        try:
            write_report(self.report, path, redact=self._run.redact)
        except OSError as error:
            yield f"the report {path} could not be written: {error.strerror or error}"
