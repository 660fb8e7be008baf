"""People's own tests over a corpus: their parameters, what they ask, and their reports."""

from __future__ import annotations

import os
from collections.abc import Generator
from itertools import islice

import pytest

from pytest_refusal.escape import one_line, visible
from pytest_refusal.outcome import Outcome, Trial, Unevaluated, to_wire
from pytest_refusal.plugin.arguments import NOTHING_ASKED
from pytest_refusal.plugin.collection import Marks
from pytest_refusal.plugin.fixtures import CASE, PROMPT, RefusalCase
from pytest_refusal.plugin.item import UnevaluatedError
from pytest_refusal.plugin.report_parts import (
    OUTCOME,
    make_sections_safe,
    native_text,
    rerun_command,
)
from pytest_refusal.plugin.run import Run, is_worker
from pytest_refusal.plugin.trial_ids import TrialIds
from pytest_refusal.plugin.trying import attempt_trial
from pytest_refusal.report.failure_text import REDACTED, describe, headline

_OUTCOME = pytest.StashKey[Outcome]()


class OwnTests:
    """Hands the trials of the run to tests, and puts the outcomes on their reports.

    are_there: whether the session has any such test.
    """

    def __init__(self, config: pytest.Config, run: Run, ids: TrialIds) -> None:
        self._run = run
        self._ids = ids
        self._marks = Marks(config)
        self._home = None if is_worker(config) else os.getpid()
        self.are_there = False

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        """Run a test for each trial, or for each prompt if it does not ask."""
        self.are_there = True
        asks = CASE in metafunc.fixturenames
        self._run.shared.is_needed |= asks
        trials = self._run.trials
        step = 1 if asks else len(self._run.policies) * self._run.settings.samples
        # Indirect and by node id: what a parameter shows is safe everywhere.
        metafunc.parametrize(
            PROMPT,
            [
                pytest.param(
                    node_id,
                    id=name if asks else name.rpartition("[")[0],
                    marks=self._marks.of(trials[node_id].prompt),
                )
                for name, node_id in islice(self._ids.by_parameter.items(), None, None, step)
            ],
            indirect=True,
        )

    def trial(self, request: pytest.FixtureRequest) -> Trial:
        """Return the trial of a test."""
        callspec = getattr(request.node, "callspec", None)
        if callspec is None or PROMPT not in callspec.params:
            pytest.fail(
                f"take {PROMPT} or {CASE} as an argument of the test, so that it runs for each"
                " prompt; it cannot be had by request.getfixturevalue",
                pytrace=False,
            )
        return self._run.trials[callspec.params[PROMPT]]

    def case(self, request: pytest.FixtureRequest) -> RefusalCase:
        """Ask what is not asked yet.  Raises UnevaluatedError where there is no verdict."""
        run, item, trial = self._run, request.node, self.trial(request)
        if run.dry:
            pytest.skip("nobody is asked under --setup-only")
        outcome = run.shared.outcome(
            trial.node_id, by=item.nodeid, attempt=lambda: attempt_trial(run, trial)
        )
        item.stash[_OUTCOME] = outcome
        if isinstance(outcome, Unevaluated):
            why = run.asking.asker.stopped
            if why is not None:
                # The others would only fail alike.
                item.session.shouldstop = one_line(why)
            raise UnevaluatedError(headline(outcome), pytrace=False)
        return RefusalCase(outcome=outcome)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, session: pytest.Session) -> None:
        """Refuse to run where a policy was typed and nobody would be asked.

        Workers of xdist leave this to the controller.
        """
        run = self._run
        if run.must_ask_tests and not self.are_there and self._home and not session.testsfailed:
            raise pytest.UsageError(NOTHING_ASKED)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put the outcome on the report of the setup, and make what is quoted of it safe."""
        report = yield
        if CASE not in getattr(item, "fixturenames", ()):
            return report
        make_sections_safe(report, self._run)
        outcome = item.stash.get(_OUTCOME, None)
        error = call.excinfo.value if call.excinfo is not None else None
        if isinstance(error, UnevaluatedError) and outcome is not None:
            self._explain(report, item, outcome)
        elif error is not None:
            _make_failure_safe(report, self._run)
        if outcome is not None:
            # Once: the next report is of the test itself, or of another attempt.
            del item.stash[_OUTCOME]
            crosses = os.getpid() != self._home
            setattr(report, OUTCOME, to_wire(outcome) if crosses else outcome)
        return report

    def _explain(self, report: pytest.TestReport, item: pytest.Item, outcome: Outcome) -> None:
        trial = outcome.trial
        path = trial.node_id.partition("::")[0]
        line = trial.prompt.place.line if trial.prompt.place else 0
        text = describe(
            outcome,
            where=f"{path}:{line}",
            command=rerun_command(item.config, visible(item.nodeid), trial.policy),
            redact=self._run.redact,
        )
        report.longrepr = native_text(text, path, line, headline(outcome))


def _make_failure_safe(report: pytest.TestReport, run: Run) -> None:
    """Make a traceback safe: it may quote what came back, and one lone surrogate ends a worker."""
    longrepr = report.longrepr
    if isinstance(longrepr, tuple):
        path, line, why = longrepr
        report.longrepr = visible(path), line, one_line(why)
        return
    if hasattr(report, "wasxfail"):
        report.wasxfail = one_line(report.wasxfail)
    text = report.longreprtext
    shown = visible(run.asking.asker.hide(text))
    crash = getattr(longrepr, "reprcrash", None)
    path, line = (crash.path, crash.lineno) if crash else (report.location[0], 0)
    if run.redact:
        place = f"{visible(path)}:{line}"
        report.longrepr = native_text(f"{place}: {REDACTED}", visible(path), line, REDACTED)
    elif shown != text:
        message = one_line(run.asking.asker.hide(crash.message if crash else text), 200)
        report.longrepr = native_text(shown, visible(path), line, message)
