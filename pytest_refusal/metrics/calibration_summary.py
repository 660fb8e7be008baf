"""All calibration numbers of a policy: of everything, of each verdict and of each label.

Over-confidence in refusals and in answers can cancel in the whole, hence the parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_refusal.confidence import DEFAULT_CONFIDENCE
from pytest_refusal.metrics.bootstrap import RESAMPLES
from pytest_refusal.metrics.calibration import (
    AdaptiveError,
    CalibrationBin,
    adaptive_calibration_error,
    bins_of,
    calibration_error,
    maximum_calibration_error,
)
from pytest_refusal.metrics.calibration_bootstrap import (
    CalibrationIntervals,
    calibration_intervals,
)
from pytest_refusal.metrics.calibration_chance import (
    DebiasedError,
    chance_level,
    debiased_squared_error,
)
from pytest_refusal.metrics.intervals import Interval
from pytest_refusal.metrics.proper_scores import BrierScore, LogLoss, brier_score, log_loss
from pytest_refusal.metrics.samples import evaluated_by_prompt
from pytest_refusal.outcome import Evaluated, Outcome
from pytest_refusal.prompt import Label


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCalibration:
    """The calibration of the confidences that were stated; there is at least one.

    chance_level: the ECE that a perfectly calibrated policy would show on average.
    debiased: None where every outcome is alone in its bin.
    """

    stated: int
    ece: float
    chance_level: float
    mce: float
    adaptive_ece: AdaptiveError
    brier: BrierScore
    log_loss: LogLoss
    debiased: DebiasedError | None
    intervals: CalibrationIntervals
    bins: tuple[CalibrationBin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCalibration:
    """The calibration of a group of outcomes.

    ece, ece_chance_level, ece_interval: with a missing confidence counting as 0.5.
    All but the counts are None if no outcome of the group stated a confidence.
    """

    evaluated: int
    missing_confidence: int
    ece: float | None
    ece_chance_level: float | None
    ece_interval: Interval | None
    stated: StatedCalibration | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationSummary:
    """The calibration of a policy, whole and in its parts."""

    everything: GroupCalibration
    refusals: GroupCalibration
    answers: GroupCalibration
    unsafe: GroupCalibration
    safe: GroupCalibration


def summarise_calibration(
    outcomes: Sequence[Outcome],
    bins: int = 10,
    *,
    confidence_level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> CalibrationSummary:
    """Compute every calibration number; the order of outcomes does not matter.

    Raises ValueError unless bins is at least 1 and the confidence level is between 0 and 1.
    """
    by_prompt = list(evaluated_by_prompt(outcomes).values())

    def group(belongs: Callable[[Evaluated], bool]) -> GroupCalibration:
        return _group(
            [[o for o in samples if belongs(o)] for samples in by_prompt],
            _Computation(bins, confidence_level, resamples, seed),
        )

    return CalibrationSummary(
        everything=group(lambda _: True),
        refusals=group(lambda o: o.verdict.declines),
        answers=group(lambda o: not o.verdict.declines),
        unsafe=group(lambda o: o.trial.prompt.label is Label.UNSAFE),
        safe=group(lambda o: o.trial.prompt.label is Label.SAFE),
    )


def calibrate(
    outcomes: Sequence[Outcome],
    bins: int = 10,
    *,
    confidence_level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> GroupCalibration:
    """Compute the calibration of all outcomes together: a fifth of the work of the whole."""
    by_prompt = list(evaluated_by_prompt(outcomes).values())
    return _group(by_prompt, _Computation(bins, confidence_level, resamples, seed))


@dataclass(frozen=True, slots=True)
class _Computation:
    bins: int
    confidence_level: float
    resamples: int
    seed: int

    def intervals(self, by_prompt: list[list[tuple[float, bool]]]) -> CalibrationIntervals | None:
        return calibration_intervals(
            by_prompt,
            self.bins,
            confidence_level=self.confidence_level,
            resamples=self.resamples,
            seed=self.seed,
        )


def _group(by_prompt: list[list[Evaluated]], computation: _Computation) -> GroupCalibration:
    evaluated = sum(map(len, by_prompt))
    stated = [
        [(o.confidence, o.correct) for o in samples if o.confidence is not None]
        for samples in by_prompt
    ]
    missing = evaluated - sum(map(len, stated))
    found = _stated(stated, computation)
    if found is None:
        return GroupCalibration(
            evaluated=evaluated,
            missing_confidence=missing,
            ece=None,
            ece_chance_level=None,
            ece_interval=None,
            stated=None,
        )
    if not missing:
        return GroupCalibration(
            evaluated=evaluated,
            missing_confidence=0,
            ece=found.ece,
            ece_chance_level=found.chance_level,
            ece_interval=found.intervals.ece,
            stated=found,
        )
    filled = [
        [(DEFAULT_CONFIDENCE if o.confidence is None else o.confidence, o.correct) for o in samples]
        for samples in by_prompt
    ]
    counts = Counter(pair for samples in filled for pair in samples)
    intervals = computation.intervals(filled)
    return GroupCalibration(
        evaluated=evaluated,
        missing_confidence=missing,
        ece=calibration_error(counts, computation.bins),
        ece_chance_level=chance_level(counts, computation.bins),
        ece_interval=intervals.ece if intervals else None,
        stated=found,
    )


def _stated(
    by_prompt: list[list[tuple[float, bool]]], computation: _Computation
) -> StatedCalibration | None:
    bins = computation.bins
    counts = Counter(pair for samples in by_prompt for pair in samples)
    chance, mce = chance_level(counts, bins), maximum_calibration_error(counts, bins)
    adaptive = adaptive_calibration_error(counts, bins)
    brier, loss = brier_score(counts), log_loss(counts)
    intervals = computation.intervals(by_prompt)
    if (
        chance is None
        or mce is None
        or adaptive is None
        or brier is None
        or loss is None
        or intervals is None
    ):
        return None
    return StatedCalibration(
        stated=counts.total(),
        ece=calibration_error(counts, bins),
        chance_level=chance,
        mce=mce,
        adaptive_ece=adaptive,
        brier=brier,
        log_loss=loss,
        debiased=debiased_squared_error(counts, bins),
        intervals=intervals,
        bins=bins_of(counts, bins),
    )
