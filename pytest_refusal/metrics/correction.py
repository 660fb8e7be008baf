"""Rates corrected for the classifier's errors, which people found by reading responses.

Here a rate is one of verdicts: how many responses were called what they were not. The
corrected rate stands beside the observed one and does not replace it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from pytest_refusal.metrics.distributions import two_sided_z
from pytest_refusal.metrics.intervals import (
    Interval,
    IntervalMethod,
    clopper_pearson_interval,
)

#: With fewer audited in a stratum its interval is not to be relied on.
FEWEST_AUDITED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """Responses of one kind, such as all with one verdict, of which people read some.

    run: how many there are in the run.  audited: a random part of them.
    true: those of the audited that truly are what the rate counts.
    """

    run: int
    audited: int
    true: int

    def __post_init__(self) -> None:
        if not 0 <= self.true <= self.audited <= self.run:
            msg = f"not a stratum: {self.true} of {self.audited} audited of {self.run}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedStratum:
    """A part of the prompts with its own rate, and its weight where the rate is to hold.

    weight: any positive number; weights are scaled so that all sum to 1.
    """

    weight: float
    successes: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRate:
    """An estimate of the true rate.

    standard_error: None where the interval is not made from one.
    enough: whether each stratum has enough audited responses to rely on the interval.
    """

    rate: float
    standard_error: float | None
    interval: Interval
    enough: bool = True

    def mirrored(self) -> CorrectedRate:
        """Give the estimate of the opposite: answers for refusals."""
        interval = replace(
            self.interval, lower=1.0 - self.interval.upper, upper=1.0 - self.interval.lower
        )
        return replace(self, rate=1.0 - self.rate, interval=interval)


def audited_rate(strata: Sequence[Stratum], confidence_level: float = 0.95) -> CorrectedRate | None:
    """Estimate the true rate of this run from an audit of a random part of each stratum.

    None without responses, or where a stratum has responses and none was audited.
    The interval adds squared distances to Clopper-Pearson limits, each less the nearer a
    stratum is to being read whole.  Source: Cochran (1977), Newcombe (1998), Zou & Donner (2008).
    """
    two_sided_z(confidence_level)
    used = [s for s in strata if s.run]
    total = sum(s.run for s in used)
    if not total or not all(s.audited for s in used):
        return None
    parts = [
        _Part(
            weight=Fraction(s.run, total),
            successes=s.true,
            n=s.audited,
            unread=1 - s.audited / s.run,
        )
        for s in used
    ]
    return _combined(parts, confidence_level)


def reweighted_rate(
    strata: Sequence[WeightedStratum], confidence_level: float = 0.95
) -> CorrectedRate | None:
    """Estimate the rate at another mix of strata, such as that of a deployment.

    None without strata, or where one with a weight has no prompts.
    """
    two_sided_z(confidence_level)
    used = [s for s in strata if s.weight > 0]
    total = sum(Fraction(s.weight) for s in used)
    if not used or not all(s.n for s in used):
        return None
    parts = [
        _Part(weight=Fraction(s.weight) / total, successes=s.successes, n=s.n, unread=1.0)
        for s in used
    ]
    return _combined(parts, confidence_level)


def rogan_gladen_rate(observed: float, sensitivity: float, specificity: float) -> float | None:
    """Correct an observed rate for known sensitivity and specificity, clipped to [0, 1].

    None where they sum to 1 or less: such a classifier tells nothing.
    Source: Rogan & Gladen (1978).
    """
    informed = sensitivity + specificity - 1
    if informed <= 0:
        return None
    return _clip((observed + specificity - 1) / informed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierAudit:
    """What people found about the classifier on other responses than those of this run.

    refusals: truly refusals, of which refusals_found were called so.
    answers: truly answers, of which answers_found were called so.
    Not necessarily whole: the effective numbers of a weighted sample.
    """

    refusals_found: float
    refusals: float
    answers_found: float
    answers: float


def rogan_gladen(
    observed_refusals: int, n: int, audit: ClassifierAudit, confidence_level: float = 0.95
) -> CorrectedRate | None:
    """Correct the refusal rate of a run for errors measured elsewhere.

    None without data, or where the classifier was no better than a coin.
    The interval carries the uncertainty of the audit.  Source: Lang & Reiczigel (2014).
    """
    z = two_sided_z(confidence_level)
    if not n or not audit.refusals or not audit.answers:
        return None
    rate = rogan_gladen_rate(
        observed_refusals / n,
        audit.refusals_found / audit.refusals,
        audit.answers_found / audit.answers,
    )
    size = n + z * z
    p = (observed_refusals + z * z / 2) / size
    found_size, answer_size = audit.refusals + 2, audit.answers + 2
    se, sp = (audit.refusals_found + 1) / found_size, (audit.answers_found + 1) / answer_size
    informed = se + sp - 1
    if rate is None or informed <= 0:
        return None
    centre = (p + sp - 1) / informed
    of_se, of_sp = se * (1 - se) / found_size, sp * (1 - sp) / answer_size
    shift = 2 * z * z * (centre * of_se - (1 - centre) * of_sp)
    variance = p * (1 - p) / size + centre**2 * of_se + (1 - centre) ** 2 * of_sp
    reach = z / informed * math.sqrt(variance)
    interval = Interval(
        lower=min(_clip(centre + shift - reach), rate),
        upper=max(_clip(centre + shift + reach), rate),
        confidence_level=confidence_level,
        method=IntervalMethod.LANG_REICZIGEL,
    )
    enough = min(audit.refusals, audit.answers) >= FEWEST_AUDITED
    return CorrectedRate(rate=rate, standard_error=None, interval=interval, enough=enough)


def prediction_powered_rate(
    human: Sequence[bool],
    judged: Sequence[bool],
    judged_unaudited: Sequence[bool],
    confidence_level: float = 0.95,
) -> CorrectedRate | None:
    """Estimate a rate from many verdicts and an audit of a *simple* random sample.

    human, judged: of the audited responses, in one order.  judged_unaudited: of the others.
    None with fewer than two of either.  The interval may leave [0, 1].
    Source: Angelopoulos et al. (2023).
    """
    z = two_sided_z(confidence_level)
    if len(human) != len(judged):
        msg = f"{len(human)} human labels for {len(judged)} verdicts"
        raise ValueError(msg)
    audited, unaudited = len(human), len(judged_unaudited)
    if audited < 2 or unaudited < 2:
        return None
    verdicts = sum(map(bool, judged_unaudited)) / unaudited
    errors = [bool(h) - bool(j) for h, j in zip(human, judged, strict=True)]
    mean_error = sum(errors) / audited
    error_variance = sum(e * e for e in errors) / audited - mean_error**2
    standard_error = math.sqrt(verdicts * (1 - verdicts) / unaudited + error_variance / audited)
    rate = verdicts + mean_error
    interval = Interval(
        lower=rate - z * standard_error,
        upper=rate + z * standard_error,
        confidence_level=confidence_level,
        method=IntervalMethod.NORMAL,
    )
    return CorrectedRate(
        rate=rate,
        standard_error=standard_error,
        interval=interval,
        enough=audited >= FEWEST_AUDITED,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A stratum as its share of the whole; unread: the share of it that nobody read."""

    weight: Fraction
    successes: int
    n: int
    unread: float


def _combined(parts: Sequence[_Part], confidence_level: float) -> CorrectedRate:
    # Exact, so that a run read whole is given precisely the rate that was counted.
    rate = float(sum(part.weight * Fraction(part.successes, part.n) for part in parts))
    below, above, variance = [], [], []
    for part in parts:
        share = part.successes / part.n
        limits = clopper_pearson_interval(part.successes, part.n, confidence_level)
        squared = float(part.weight) ** 2 * part.unread
        if limits is not None:
            below.append(squared * (share - limits.lower) ** 2)
            above.append(squared * (limits.upper - share) ** 2)
        variance.append(squared * share * (1 - share) / max(part.n - 1, 1))
    interval = Interval(
        lower=_clip(rate - math.sqrt(math.fsum(below))),
        upper=_clip(rate + math.sqrt(math.fsum(above))),
        confidence_level=confidence_level,
        method=IntervalMethod.SQUARE_AND_ADD,
    )
    return CorrectedRate(
        rate=rate,
        standard_error=math.sqrt(math.fsum(variance)),
        interval=interval,
        enough=all(part.n >= FEWEST_AUDITED or not part.unread for part in parts),
    )


def _clip(rate: float) -> float:
    return min(max(rate, 0.0), 1.0)
