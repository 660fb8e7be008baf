"""What arrived in a session to a report, rulings and the exit status.

Lives where the session is concluded: in the only process, or in the controller of xdist.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_refusal import __version__
from pytest_refusal.errors import ReportError
from pytest_refusal.escape import one_line
from pytest_refusal.outcome import Evaluated
from pytest_refusal.plugin.allure import add_gates_to_allure
from pytest_refusal.plugin.arrivals import Arrivals
from pytest_refusal.plugin.audit import write_requested
from pytest_refusal.plugin.baselines import NEEDS_BASELINE
from pytest_refusal.plugin.gate_reports import announce_gates
from pytest_refusal.plugin.junit import add_suite_properties
from pytest_refusal.plugin.provenance import command, commit, configuration
from pytest_refusal.plugin.run import Run
from pytest_refusal.plugin.standing import Standing, judge_standing
from pytest_refusal.report.conclusion import reasons_to_fail
from pytest_refusal.report.findings import count
from pytest_refusal.report.history import PastRun, append_history, read_history, runs_of
from pytest_refusal.report.report import PolicyReport, Report
from pytest_refusal.report.writing import write_report
from pytest_refusal.reporting import compare_policies, report_policy, summarise_corpora


class RefusalSession:
    """Concludes a session when it finishes.

    report: None until the end, and where nothing was asked.
    reasons: why the session fails, each in one line; empty if it does not.
    """

    def __init__(self, config: pytest.Config, run: Run, arrivals: Arrivals) -> None:
        self._config = config
        self._run = run
        self._arrivals = arrivals
        self._history: tuple[PastRun, ...] = ()
        self._ended: str | None = None
        self.report: Report | None = None
        self.reasons: tuple[str, ...] = ()

    @pytest.hookimpl
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that somebody called `pytest.exit`, which may set any exit status."""
        if isinstance(excinfo.value, pytest.exit.Exception):
            self._ended = f"pytest.exit: {excinfo.value.msg}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Rule, announce the gates, write the reports and set the exit status."""
        asking, arrivals = self._run.asking, self._arrivals
        asking.close()
        asks = self._run.as_items or arrivals.are_any_planned
        if self._run.dry or not (asks or self._run.must_evaluate):
            return
        if not asks and session.exitstatus == pytest.ExitCode.USAGE_ERROR:
            return
        arrivals.hear(asking.report())
        arrivals.settle_own_tests()
        standing = judge_standing(
            exit_status=int(session.exitstatus),
            stopped=bool(session.shouldfail or session.shouldstop),
            collected=len(self._run.trials),
            selected=len(arrivals.selected),
            deselected=arrivals.deselected_count,
            arrived=arrivals.settled_count,
            narrowed=self._run.narrowed or not asks,
            gate_partial=self._run.gate_partial,
        )
        if standing.all_planned:
            arrivals.selected.update(self._run.trials)
        report = self._make_report(standing)
        reasons = [*self._reasons(report, standing), *self._reasons_of_others(session)]
        report, trouble = self._write_audit(report, standing)
        reasons += trouble
        report = replace(report, reasons=tuple(reasons))
        reasons += self._append_history(report)
        self.report = report = replace(report, history=self._history)
        xfailed = self._xfailed()
        announce_gates(self._config, report, xfailed)
        add_gates_to_allure(self._config, report, xfailed)
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
            notes=(*self._run.notes, *self._recording_notes(standing), *self._cost_notes()),
            versions={
                "pytest-refusal": __version__,
                "pytest": pytest.__version__,
                "python": platform.python_version(),
            },
            command=command(self._config, self._run),
            configuration=configuration(self._config, self._run),
        )

    def _policy_report(self, name: str, standing: Standing) -> PolicyReport:
        run, arrived = self._run, self._arrivals.of_policy(name)
        return report_policy(
            name,
            settings=run.settings,
            policy=run.policies[name],
            classifier=run.classifiers[name],
            prompts=run.prompts,
            outcomes=arrived.outcomes,
            collected=arrived.collected,
            not_run=arrived.not_run,
            skipped=arrived.skipped,
            why_not_ruled=standing.why_not_ruled,
            baseline=run.baselines.get(name),
            labels=run.labels.get(name, ()),
            meter=self._arrivals.meters.get(name),
            judging=self._arrivals.judging.get(name),
        )

    def _recording_notes(self, standing: Standing) -> Iterator[str]:
        asker, recording = self._run.asking.asker, self._run.asking.recording
        if recording is None:
            return
        yield from recording.notes
        whole = standing.complete and len(self._arrivals.selected) == len(self._run.trials)
        judges = {name: judge.policy.name for name, judge in asker.judges.items()}
        if whole and (unused := recording.unused(self._run.policies, judges)):
            shown = ", ".join(unused[:10]) + (", ..." if len(unused) > 10 else "")
            yield f"{recording.path.name} holds responses that nothing asked for: {shown}"

    def _cost_notes(self) -> Iterator[str]:
        limit = self._run.asking.options.max_cost
        arrivals = self._arrivals
        meters = (*arrivals.meters.values(), *arrivals.judging.values())
        cost = sum(meter.cost for meter in meters)
        # What a request costs is known after it, and the last ones may be dearer than those before.
        if limit is not None and cost > limit:
            yield f"cost {cost:g} is over the limit of {limit:g}"
        if unknown := sum(meter.unpriced for meter in meters):
            yield (
                f"the cost of {count(unknown, 'response')} is not known and not counted: the"
                " server gave no number of tokens"
            )

    def _reasons(self, report: Report, standing: Standing) -> Iterable[str]:
        if self._arrivals.stopped is not None and not standing.complete:
            yield one_line(self._arrivals.stopped)
        if standing.lost:
            lost = sum(len(policy.not_run) for policy in report.policies)
            yield f"{lost} planned prompt{'s' if lost > 1 else ''} never came to an end"
        if (
            self._run.must_evaluate
            and not self._arrivals.outcomes
            and (standing.complete or not self._arrivals.selected)
        ):
            yield "nothing was evaluated"
        is_ruled = standing.why_not_ruled is None
        if is_ruled and self._run.settings.regression and not self._run.baselines:
            # What looked like a part before the run, such as `-k refusal`, was the whole.
            yield NEEDS_BASELINE
        for policy in report.policies:
            failed = [o for o in policy.outcomes if o.trial.node_id in self._arrivals.failed]
            ceilings = self._run.settings.ceilings_of(policy.policy)
            for reason in reasons_to_fail(policy, failed, ceilings):
                yield f"{policy.policy}: {reason}"

    def _reasons_of_others(self, session: pytest.Session) -> Iterator[str]:
        """Say what fails the session and is no outcome: that is not ours to forgive."""
        crashes = self._arrivals.crashes
        if crashes:
            yield f"{crashes} prompt{'s' if crashes > 1 else ''} lost to a crash"
        # pytest counted our failures too.
        others = session.testsfailed - self._arrivals.failures - crashes
        if others > 0:
            yield f"{others} other failure{'s' if others > 1 else ''}"
        if session.exitstatus == pytest.ExitCode.TESTS_FAILED and (
            self._ended is not None or not session.testsfailed
        ):
            told = self._ended or session.shouldfail or "no test accounts for exit status 1"
            yield f"failed by others: {one_line(str(told), 200)}"

    def _xfailed(self) -> frozenset[str]:
        """Return the misjudged prompts that were not reported as failures."""
        if not self._run.as_items:
            return frozenset()
        arrivals = self._arrivals
        wrong = (
            key
            for key, outcome in arrivals.outcomes.items()
            if isinstance(outcome, Evaluated) and not outcome.correct
        )
        return frozenset(wrong) - arrivals.failed

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
