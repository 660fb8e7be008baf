"""One trial to its outcome inside a session, for an item or for people's own test."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from pytest_refusal import foreign
from pytest_refusal.attempt import CLASSIFIER_FAILED, attempt
from pytest_refusal.outcome import Outcome, Trial, Unevaluated
from pytest_refusal.plugin.run import Run
from pytest_refusal.report.failure_text import REDACTED


def attempt_trial(run: Run, trial: Trial, ahead: Iterable[Trial] = ()) -> Outcome:
    """Ask the policy and judge the response; whatever fails is unevaluated.

    ahead: the trials that are sure to come next, in order.
    """
    outcome: Outcome
    try:
        outcome = attempt(
            trial,
            run.classifiers[trial.policy],
            asker=run.asking.asker,
            finish_reasons=run.settings.finish_reasons,
            ahead=(one for one in ahead if not run.shared.has(one.node_id)),
        )
    except (pytest.skip.Exception, pytest.xfail.Exception) as error:
        # What is under test does not choose what it is tested on.
        told = run.asking.asker.hide(foreign.describe(error))
        outcome = Unevaluated(trial=trial, reason="error", error=told)
    if run.redact and isinstance(outcome, Unevaluated) and outcome.reason == CLASSIFIER_FAILED:
        # Whoever fails to read a response is likely to quote it.
        outcome = replace(outcome, error=REDACTED)
    return outcome
