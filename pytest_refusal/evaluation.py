"""The whole way from prompts to a report without pytest; the plugin walks the same functions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from os import fspath
from pathlib import Path
from time import perf_counter

from pytest_refusal import foreign
from pytest_refusal.classifier.finish import FinishKind
from pytest_refusal.classifier.signals import Unjudged, judge_response
from pytest_refusal.corpus.loading import load
from pytest_refusal.corpus.reading import FileReading
from pytest_refusal.corpus.sources import find_corpora
from pytest_refusal.errors import ClassifierError, CorpusError
from pytest_refusal.execution.asker import Asker
from pytest_refusal.execution.asking import AskError, is_reduced
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.execution.meter import Meter
from pytest_refusal.gate import not_ruled, rule
from pytest_refusal.metrics.audit import HumanLabel, assess_audit
from pytest_refusal.metrics.comparison import ComparisonSettings, Judged, compare
from pytest_refusal.metrics.estimates import estimate_rates
from pytest_refusal.metrics.tally import Tally
from pytest_refusal.outcome import Outcome, Trial, Unevaluated, judge
from pytest_refusal.policy.recorded import RecordedPolicy
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import Classifier, Policy
from pytest_refusal.registry import build_classifier, build_policies
from pytest_refusal.regression import rule_on_regression
from pytest_refusal.report.baseline import Baseline
from pytest_refusal.report.human_audit import read_labels
from pytest_refusal.report.report import (
    AskingSummary,
    BaselineComparison,
    ClassifierSummary,
    CorpusSummary,
    PolicyComparison,
    PolicyReport,
    Report,
    Skipped,
)
from pytest_refusal.response import Response
from pytest_refusal.settings import Settings
from pytest_refusal.verdict import Verdict, VerdictKind, is_well_formed

#: The reason of an outcome whose response could not be judged.
CLASSIFIER_FAILED = "classifier"


def attempt(
    trial: Trial,
    classifier: Classifier,
    *,
    asker: Asker,
    finish_reasons: Mapping[str, FinishKind],
    ahead: Iterable[Trial] = (),
) -> Outcome:
    """Ask the policy, read its signals, classify the text; whatever fails is unevaluated.

    ahead: the trials that are sure to come next, in order.
    """
    start = perf_counter()
    try:
        response = asker.fetch(trial, ahead)
    except AskError as error:
        return Unevaluated(
            trial=trial,
            reason=error.reason,
            error=asker.hide(str(error)),
            duration_s=perf_counter() - start,
        )
    verdict = _judged(response, classifier, trial.prompt, finish_reasons)
    duration_s = perf_counter() - start
    if isinstance(verdict, Unjudged):
        return Unevaluated(
            trial=trial,
            reason=verdict.reason,
            error=verdict.error,
            response=response,
            duration_s=duration_s,
        )
    return judge(trial, response, verdict, duration_s=duration_s)


def is_judgeable(response: Response, finish_reasons: Mapping[str, FinishKind]) -> bool:
    """Whether a response is whole, so that some classifier can say what it was."""
    found = judge_response(response, _TakesAnything(), finish_reasons=finish_reasons)
    return not isinstance(found, Unjudged)


class _TakesAnything:
    name = "any"
    version = "1"

    def classify(self, text: str, *, prompt: Prompt | None = None) -> Verdict:  # noqa: ARG002  # the shape of Classifier
        return Verdict(kind=VerdictKind.ANSWER, score=0.0, reason="any")


def _judged(
    response: Response,
    classifier: Classifier,
    prompt: Prompt,
    finish_reasons: Mapping[str, FinishKind],
) -> Verdict | Unjudged:
    try:
        found: object = judge_response(
            response, classifier, prompt=prompt, finish_reasons=finish_reasons
        )
    except ClassifierError as error:
        return Unjudged(reason=CLASSIFIER_FAILED, error=str(error))
    except Exception as error:  # a classifier may be anybody's code
        return Unjudged(reason=CLASSIFIER_FAILED, error=foreign.describe(error))
    if isinstance(found, Unjudged) or (isinstance(found, Verdict) and is_well_formed(found)):
        return found
    kind = (
        "a Verdict with fields of other types"
        if isinstance(found, Verdict)
        else type(found).__name__
    )
    text = f"classifier {classifier.name!r} returned {kind}; expected a Verdict as documented"
    return Unjudged(reason=CLASSIFIER_FAILED, error=text)


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
) -> PolicyReport:
    """Put together what was found out about one policy, and rule on its ceilings.

    prompts: all of the run, selected or not.
    why_not_ruled: why the gate must not be ruled on; None to rule.
    labels: what people called responses, of this run or of another.
    meter: what asking took, of all processes.
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
        samples=settings.samples,
        collected=collected,
        not_run=tuple(not_run),
        skipped=tuple(skipped),
        reduced=sum(is_reduced(policy, prompt) for prompt in asked.values()),
        unused=policy.unused(prompts) if isinstance(policy, RecordedPolicy) else (),
        asking=None if meter is None else AskingSummary.of(meter),
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
    return ComparisonSettings(confidence_level=settings.confidence_level, bins=settings.ece_bins)


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
                sha256=hashlib.sha256(files[name].read_bytes()).hexdigest()
                if name in files
                else None,
                published=reading.published or None if reading else None,
                columns=reading.columns if reading else (),
            )
        )
    return tuple(summaries)


def evaluate(
    policy: str | Policy | Callable[..., object],
    corpus: Iterable[Prompt] | str | Path | None = None,
    *,
    settings: Settings | None = None,
) -> Report:
    """Ask a policy every prompt of a corpus and return what the plugin would report.

    policy: a name as for `--refusal-policy`, or any callable from a prompt's text to text
    (or from a `Prompt`, if its parameter says so), sync or async.
    corpus: prompts, a path or the name of a bundled corpus; None for the bundled ones.
    settings: ceilings and the like, as `read_settings` makes them.
    Raises SettingsError for an unknown policy, CorpusError for prompts that cannot be used.
    """
    settings = settings or Settings(base=Path.cwd())
    readings: tuple[FileReading, ...] = ()
    if corpus is None or isinstance(corpus, str | Path):
        entries = [] if corpus is None else [fspath(corpus)]
        loaded = load(find_corpora(entries, base=Path.cwd()))
        prompts, readings = list(loaded.prompts), loaded.readings
    else:
        prompts = list(corpus)
        _refuse_duplicates(prompts)
    built, name = _policy_and_name(policy, settings)
    classifier = build_classifier(settings, name)
    finish_reasons = settings.finish_reasons
    labels = labels_of(settings, [name])
    trials = [
        Trial(prompt=prompt, policy=name, sample=sample)
        for prompt in prompts
        for sample in range(1, settings.samples + 1)
    ]
    outcomes: list[Outcome] = []
    with BackgroundLoop() as loop:
        asker = Asker({name: built}, loop)
        for number, trial in enumerate(trials, start=1):
            outcome = attempt(
                trial,
                classifier,
                asker=asker,
                finish_reasons=finish_reasons,
                ahead=islice(trials, number, None) if asker.asks_ahead else (),
            )
            outcomes.append(outcome)
            if isinstance(outcome, Unevaluated) and asker.stopped is not None:
                break
        asker.close()
    stopped = asker.stopped if len(outcomes) < len(trials) else None
    report = report_policy(
        name,
        settings=settings,
        policy=built,
        classifier=classifier,
        prompts=prompts,
        outcomes=outcomes,
        collected=len(trials),
        not_run=trials[len(outcomes) :],
        why_not_ruled=stopped,
        meter=asker.meters().get(name),
        labels=labels.get(name, ()),
    )
    return Report(
        policies=(report,),
        corpora=summarise_corpora(prompts, readings),
        complete=stopped is None,
        notes=policy_notes([built]),
    )


def _policy_and_name(
    policy: str | Policy | Callable[..., object], settings: Settings
) -> tuple[Policy, str]:
    if isinstance(policy, str):
        return build_policies([policy], settings, hooked={})[policy], policy
    name = getattr(policy, "name", None) or getattr(policy, "__name__", type(policy).__name__)
    name = str(name)
    return build_policies([name], settings, hooked={name: policy})[name], name


def _refuse_duplicates(prompts: Sequence[Prompt]) -> None:
    seen: set[tuple[str, str]] = set()
    faults = []
    for prompt in prompts:
        key = prompt.corpus, prompt.id
        if key in seen:
            faults.append(f"prompt {prompt.id!r} of corpus {prompt.corpus!r} is there twice")
        seen.add(key)
    if faults:
        raise CorpusError(faults)
