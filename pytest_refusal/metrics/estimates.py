"""Every rate of a policy with its interval, clustered by prompt where samples were repeated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_refusal.metrics.intervals import Interval, IntervalMethod, rate_interval
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.metrics.repeats import any_wrong
from pytest_refusal.metrics.samples import (
    clustered_rate,
    clustered_wilson_interval,
    evaluated_by_prompt,
)
from pytest_refusal.metrics.tally import Tally
from pytest_refusal.outcome import Evaluated, Outcome, Unevaluated
from pytest_refusal.prompt import Label
from pytest_refusal.verdict import VerdictKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A rate and how far the true one may lie from it.

    interval: None without data.
    effective_n: how many independent prompts several samples are worth; None for one of each.
    """

    rate: Rate
    interval: Interval | None
    effective_n: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """The rates of one policy; those by category are sorted by its name.

    any_of_k: of prompts, those of which any sample was wrong.
    """

    accuracy: Estimate
    under_refusal: Estimate
    over_refusal: Estimate
    partial_refusal: Estimate
    unevaluated: Estimate
    any_of_k_under_refusal: Estimate
    any_of_k_over_refusal: Estimate
    under_refusal_by_category: Mapping[str, Estimate]
    over_refusal_by_category: Mapping[str, Estimate]


def estimate_rates(
    outcomes: Sequence[Outcome],
    tally: Tally,
    *,
    method: IntervalMethod = IntervalMethod.WILSON,
    confidence_level: float = 0.95,
) -> Estimates:
    """Compute the interval of every rate.

    tally: of the same outcomes.  method: for prompts with one sample each; with several
    the interval is Wilson's with the effective number of samples, whatever the method.
    """
    by_prompt = list(evaluated_by_prompt(outcomes).values())
    repeated = any(outcome.trial.sample > 1 for outcome in outcomes)

    def estimate(rate: Rate, counts: Callable[[Evaluated], bool | None]) -> Estimate:
        if not repeated:
            return Estimate(rate=rate, interval=rate_interval(rate, method, confidence_level))
        flags = [[counts(outcome) for outcome in samples] for samples in by_prompt]
        known = [[bool(flag) for flag in samples if flag is not None] for samples in flags]
        return _clustered(rate, known, confidence_level)

    def of_label(label: Label, category: str | None) -> Callable[[Evaluated], bool | None]:
        def counts(outcome: Evaluated) -> bool | None:
            prompt = outcome.trial.prompt
            belongs = prompt.label is label and category in (None, prompt.category)
            return not outcome.correct if belongs else None

        return counts

    def any_of_k(label: Label) -> Estimate:
        rate = any_wrong(outcomes, label)
        return Estimate(rate=rate, interval=rate_interval(rate, method, confidence_level))

    return Estimates(
        accuracy=estimate(tally.accuracy, lambda outcome: outcome.correct),
        under_refusal=estimate(tally.under_refusal, of_label(Label.UNSAFE, None)),
        over_refusal=estimate(tally.over_refusal, of_label(Label.SAFE, None)),
        partial_refusal=estimate(
            tally.partial_refusal,
            lambda outcome: outcome.verdict.kind is VerdictKind.PARTIAL_REFUSAL,
        ),
        unevaluated=_clustered(tally.unevaluated, _unevaluated(outcomes), confidence_level)
        if repeated
        else Estimate(
            rate=tally.unevaluated,
            interval=rate_interval(tally.unevaluated, method, confidence_level),
        ),
        any_of_k_under_refusal=any_of_k(Label.UNSAFE),
        any_of_k_over_refusal=any_of_k(Label.SAFE),
        under_refusal_by_category={
            category: estimate(rate, of_label(Label.UNSAFE, category))
            for category, rate in tally.under_refusal_by_category.items()
        },
        over_refusal_by_category={
            category: estimate(rate, of_label(Label.SAFE, category))
            for category, rate in tally.over_refusal_by_category.items()
        },
    )


def _unevaluated(outcomes: Sequence[Outcome]) -> list[list[bool]]:
    """Tell by prompt which of its samples have no verdict."""
    by_prompt: dict[tuple[str, str], list[bool]] = {}
    for outcome in outcomes:
        prompt = outcome.trial.prompt
        samples = by_prompt.setdefault((prompt.corpus, prompt.id), [])
        samples.append(isinstance(outcome, Unevaluated))
    return list(by_prompt.values())


def _clustered(rate: Rate, flags: Sequence[Sequence[bool]], confidence_level: float) -> Estimate:
    clustered = clustered_rate(flags)
    return Estimate(
        rate=rate,
        interval=clustered_wilson_interval(flags, confidence_level),
        effective_n=None if clustered is None else clustered.effective_n,
    )
