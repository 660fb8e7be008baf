"""The outcomes of a run to what its report holds: rates, rulings, comparisons, corpora."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pytest_refusal.corpus.reading import FileReading, sha256_of
from pytest_refusal.execution.asking import is_reduced
from pytest_refusal.execution.meter import Meter
from pytest_refusal.gate import not_ruled, rule
from pytest_refusal.metrics.audit import HumanLabel, assess_audit
from pytest_refusal.metrics.comparison import ComparisonSettings, Judged, compare
from pytest_refusal.metrics.estimates import estimate_rates
from pytest_refusal.metrics.tally import Tally
from pytest_refusal.outcome import Outcome, Trial
from pytest_refusal.policy.recorded import RecordedPolicy
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import Classifier, Policy
from pytest_refusal.regression import rule_on_regression
from pytest_refusal.report.baseline import Baseline
from pytest_refusal.report.human_audit import read_labels
from pytest_refusal.report.parameters import parameters_of
from pytest_refusal.report.report import (
    AskingSummary,
    BaselineComparison,
    ClassifierSummary,
    CorpusSummary,
    PolicyComparison,
    PolicyReport,
    Skipped,
)
from pytest_refusal.settings import Settings


def report_policy(
    name: str,
    *,
    settings: Settings,
    policy: Policy,
    classifier: Classifier,
    prompts: Sequence[Prompt],
    outcomes: Sequence[Outcome],
    collected: int,
    not_run: Sequence[Trial] = (),
    skipped: Sequence[Skipped] = (),
    why_not_ruled: str | None = None,
    baseline: Baseline | None = None,
    labels: Sequence[HumanLabel] = (),
    meter: Meter | None = None,
    judging: Meter | None = None,
) -> PolicyReport:
    """Put together what was found out about one policy, and rule on its ceilings.

    prompts: all of the run, selected or not.
    why_not_ruled: why the gate must not be ruled on; None to rule.
    labels: what people called responses, of this run or of another.
    meter: what asking took, of all processes.  judging: what asking the judge took.
    """
    tally = Tally.of(outcomes)
    estimates = estimate_rates(
        outcomes, tally, method=settings.interval, confidence_level=settings.confidence_level
    )
    against = None if baseline is None else compare_with(baseline, outcomes, settings)
    asked = {id(outcome.trial.prompt): outcome.trial.prompt for outcome in outcomes}
    return PolicyReport(
        policy=name,
        outcomes=tuple(outcomes),
        tally=tally,
        estimates=estimates,
        gate=not_ruled(why_not_ruled, missing=len(not_run))
        if why_not_ruled is not None
        else rule(
            settings.ceilings_of(name),
            estimates,
            tally,
            missing=len(not_run),
            ece_bins=settings.ece_bins,
            regression=()
            if against is None
            else rule_on_regression(settings.regression, against.comparison),
        ),
        baseline=against,
        audit=assess_audit(labels, outcomes, settings.confidence_level),
        classifier=ClassifierSummary(name=classifier.name, version=classifier.version),
        ece_bins=settings.ece_bins,
        confidence_level=settings.confidence_level,
        seed=settings.seed,
        samples=settings.samples,
        collected=collected,
        not_run=tuple(not_run),
        skipped=tuple(skipped),
        reduced=sum(is_reduced(policy, prompt) for prompt in asked.values()),
        unused=policy.unused(prompts) if isinstance(policy, RecordedPolicy) else (),
        asking=None if meter is None else AskingSummary.of(meter),
        judging=None if judging is None else AskingSummary.of(judging),
        parameters=parameters_of(policy),
    )


def labels_of(settings: Settings, policies: Iterable[str]) -> Mapping[str, tuple[HumanLabel, ...]]:
    """Read the labels of people that the settings name, by policy; none where they name none.

    Raises SettingsError with every fault of the file.
    """
    if settings.labels is None:
        return {}
    return read_labels(settings.labels, policies, folder=settings.base)


def compare_with(
    baseline: Baseline, outcomes: Sequence[Outcome], settings: Settings
) -> BaselineComparison:
    """Compare the outcomes of one policy with those of its baseline, prompt by prompt."""
    return BaselineComparison(
        source=baseline.source,
        policy=baseline.policy,
        comparison=compare(
            baseline.judged, map(Judged.of, outcomes), _comparison_settings(settings)
        ),
    )


def compare_policies(
    policies: Sequence[PolicyReport], settings: Settings
) -> tuple[PolicyComparison, ...]:
    """Compare each policy of a run with the first one, prompt by prompt."""
    if len(policies) < 2:
        return ()
    first, *others = policies
    judged = [Judged.of(outcome) for outcome in first.outcomes]
    return tuple(
        PolicyComparison(
            policy=other.policy,
            against=first.policy,
            comparison=compare(
                judged, map(Judged.of, other.outcomes), _comparison_settings(settings)
            ),
        )
        for other in others
    )


def _comparison_settings(settings: Settings) -> ComparisonSettings:
    return ComparisonSettings(
        confidence_level=settings.confidence_level, bins=settings.ece_bins, seed=settings.seed
    )


def policy_notes(policies: Iterable[Policy]) -> tuple[str, ...]:
    """Return what policies passed over in the files that they were made from."""
    recorded = (policy for policy in policies if isinstance(policy, RecordedPolicy))
    return tuple(note for policy in recorded for note in policy.notes)


def summarise_corpora(
    prompts: Iterable[Prompt], readings: Iterable[FileReading] = ()
) -> tuple[CorpusSummary, ...]:
    """Name each corpus of the run with its number of prompts and the hash of its file.

    readings: how the files were read, as far as that is known.
    """
    counts: dict[str, int] = {}
    files: dict[str, Path] = {}
    for prompt in prompts:
        counts[prompt.corpus] = counts.get(prompt.corpus, 0) + 1
        if prompt.place is not None:
            files[prompt.corpus] = prompt.place.path
    reading_of = {reading.corpus: reading for reading in readings}
    summaries = []
    for name, count in counts.items():
        reading = reading_of.get(name)
        summaries.append(
            CorpusSummary(
                name=name,
                prompts=count,
                sha256=_sha256(reading, files.get(name)),
                published=reading.published or None if reading else None,
                columns=reading.columns if reading else (),
            )
        )
    return tuple(summaries)


def _sha256(reading: FileReading | None, path: Path | None) -> str | None:
    # A file that was read may have changed since, or be gone.
    if reading is not None:
        return reading.sha256
    return sha256_of(path) if path is not None else None
