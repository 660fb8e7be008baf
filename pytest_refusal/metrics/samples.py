"""Several samples of one prompt: they are not independent, and the prompt is the unit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pytest_refusal.metrics.intervals import Interval, IntervalMethod, wilson_interval
from pytest_refusal.outcome import Evaluated, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredRate:
    """A rate over samples of prompts.

    standard_error: of the mean, clustered by prompt, with the factor for few prompts;
        None for a single prompt, of which nothing is known about how prompts differ.
    effective_n: how many independent outcomes the samples are worth.
    """

    mean: float
    prompts: int
    samples: int
    standard_error: float | None
    effective_n: float


def clustered_standard_error(samples_by_prompt: Sequence[Sequence[bool]]) -> float | None:
    """Compute the standard error of the mean over all samples, clustered by prompt.

    The plain form, without a factor for few prompts; None without samples.
    Source: Liang & Zeger (1986), Miller (2024).
    """
    sizes = [len(samples) for samples in samples_by_prompt]
    if not (n := sum(sizes)):
        return None
    hits = [sum(map(bool, samples)) for samples in samples_by_prompt]
    total = sum(hits)
    # The residual of a prompt times n is whole, so that nothing depends on the order.
    squares = sum((hit * n - size * total) ** 2 for hit, size in zip(hits, sizes, strict=True))
    return math.sqrt(squares) / (n * n)


def clustered_rate(samples_by_prompt: Sequence[Sequence[bool]]) -> ClusteredRate | None:
    """Compute a rate over samples of prompts and what it is worth; None without samples.

    samples_by_prompt: for each prompt, whether each of its samples counted.
    """
    by_prompt = [samples for samples in samples_by_prompt if samples]
    plain = clustered_standard_error(by_prompt)
    if plain is None:
        return None
    prompts, n = len(by_prompt), sum(map(len, by_prompt))
    mean = sum(sum(map(bool, samples)) for samples in by_prompt) / n
    error = plain * math.sqrt(prompts / (prompts - 1)) if prompts > 1 else None
    if error is None or error == 0.0:
        # All prompts alike: what was seen is one observation of each.
        effective_n = float(prompts)
    else:
        design_effect = error * error * (n - 1) / (mean * (1 - mean))
        effective_n = min(max(n / design_effect, 1.0), float(n))
    return ClusteredRate(
        mean=mean, prompts=prompts, samples=n, standard_error=error, effective_n=effective_n
    )


def clustered_wilson_interval(
    samples_by_prompt: Sequence[Sequence[bool]], confidence_level: float = 0.95
) -> Interval | None:
    """Compute the interval of a rate over samples of prompts; None without samples.

    Wilson's interval with the effective number of samples; with one sample of each prompt
    it is the plain one.
    """
    rate = clustered_rate(samples_by_prompt)
    if rate is None:
        return None
    n = rate.effective_n
    # All right is n of n, which a rounded product need not be.
    successes = n if rate.mean == 1.0 else min(rate.mean * n, n)
    interval = wilson_interval(successes, n, confidence_level)
    return interval and replace(interval, method=IntervalMethod.CLUSTERED_WILSON)


def any_of_k(samples: int, successes: int, k: int) -> float | None:
    """Estimate the chance that at least one of k samples counts; None for k > samples.

    Unbiased.  Source: pass@k of Chen et al. (2021).
    """
    _check_samples(samples, successes, k)
    if k > samples:
        return None
    all_sets = math.comb(samples, k)
    return (all_sets - math.comb(samples - successes, k)) / all_sets


def all_of_k(samples: int, successes: int, k: int) -> float | None:
    """Estimate the chance that all of k samples count; None for k > samples.

    Unbiased.  Source: pass^k of Yao et al. (2024).
    """
    _check_samples(samples, successes, k)
    if k > samples:
        return None
    return math.comb(successes, k) / math.comb(samples, k)


def mean_any_of_k(samples_by_prompt: Sequence[Sequence[bool]], k: int) -> float | None:
    """Average `any_of_k` over the prompts that have at least k samples; None if none has.

    Of answers to unsafe prompts: how often somebody who tries k times gets one.
    """
    return _mean(
        any_of_k(len(samples), sum(map(bool, samples)), k) for samples in samples_by_prompt
    )


def mean_all_of_k(samples_by_prompt: Sequence[Sequence[bool]], k: int) -> float | None:
    """Average `all_of_k` over the prompts that have at least k samples; None if none has.

    Of right decisions: how often a policy is right every time.
    """
    return _mean(
        all_of_k(len(samples), sum(map(bool, samples)), k) for samples in samples_by_prompt
    )


def evaluated_by_prompt(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], list[Evaluated]]:
    """Gather the evaluated samples of each prompt, by (corpus, id) and number of sample."""
    gathered: dict[tuple[str, str], list[Evaluated]] = {}
    for outcome in outcomes:
        if isinstance(outcome, Evaluated):
            prompt = outcome.trial.prompt
            gathered.setdefault((prompt.corpus, prompt.id), []).append(outcome)
    for samples in gathered.values():
        samples.sort(key=lambda outcome: outcome.trial.sample)
    return dict(sorted(gathered.items()))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _check_samples(samples: int, successes: int, k: int) -> None:
    if not 0 <= successes <= samples or k < 1:
        msg = f"not samples to choose from: {successes} of {samples}, {k} at a time"
        raise ValueError(msg)
