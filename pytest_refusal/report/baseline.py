"""An earlier report as the baseline of this run. Opens that file only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_refusal.errors import ReportError
from pytest_refusal.metrics.comparison import Judged, PromptKey
from pytest_refusal.outcome import Evaluated
from pytest_refusal.report.from_json import read_json
from pytest_refusal.report.report import PolicyReport, Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """One policy of an earlier report.

    source: the path as it was given.  right: prompts all of whose samples were right.
    """

    source: str
    policy: str
    judged: tuple[Judged, ...]
    right: frozenset[PromptKey]


def read_baselines(spec: str, policies: Iterable[str], *, folder: Path) -> Mapping[str, Baseline]:
    """Find the baseline of each policy of this run.

    spec: `PATH`, for the policy of the same name, or `PATH::POLICY`, for that policy.
    A policy that the report does not have gets no baseline, unless none has one.
    Raises ReportError for a file that is no report, of a run that was not complete, or
    without any of the policies.
    """
    source, _, wanted = spec.partition("::")
    try:
        report = read_json(folder / source)
    except OSError as error:
        raise ReportError([f"baseline {source}: {error.strerror or error}"]) from error
    if not report.complete:
        raise ReportError(
            [f"baseline {source}: is of a run that did not come to its end; take a complete one"]
        )
    found = {policy.policy: policy for policy in report.policies}
    chosen = {name: found[wanted or name] for name in policies if (wanted or name) in found}
    if not chosen:
        raise ReportError([_no_such_policy(source, wanted, report)])
    return {name: _baseline(source, policy) for name, policy in chosen.items()}


def _no_such_policy(source: str, wanted: str, report: Report) -> str:
    has = ", ".join(policy.policy for policy in report.policies)
    what = f"the policy {wanted!r}" if wanted else "a policy of this run"
    return f"baseline {source}: does not have {what} (it has {has}); name one as {source}::NAME"


def _baseline(source: str, policy: PolicyReport) -> Baseline:
    wrong = {
        (outcome.trial.prompt.corpus, outcome.trial.prompt.id)
        for outcome in policy.outcomes
        if not isinstance(outcome, Evaluated) or not outcome.correct
    }
    judged = tuple(Judged.of(outcome) for outcome in policy.outcomes)
    return Baseline(
        source=source,
        policy=policy.policy,
        judged=judged,
        right=frozenset(one.key for one in judged) - wrong,
    )
