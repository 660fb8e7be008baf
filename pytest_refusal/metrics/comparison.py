"""Two runs, prompt by prompt: what regressed, what was mended, and whether it is chance.

The runs may be an earlier report and this one, or two policies of one run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_refusal.confidence import DEFAULT_CONFIDENCE
from pytest_refusal.metrics.bootstrap import RESAMPLES
from pytest_refusal.metrics.calibration import expected_calibration_error
from pytest_refusal.metrics.calibration_bootstrap import ece_difference_interval
from pytest_refusal.metrics.intervals import Interval
from pytest_refusal.metrics.paired import (
    bonett_price_interval,
    mcnemar_midp_p_value,
    paired_mean_difference,
    prompt_differences,
    sign_flip_p_value,
)
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.outcome import Evaluated, Outcome
from pytest_refusal.prompt import Label

PromptKey = tuple[str, str]
"""(corpus, id): what a prompt is known by within a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """As much of an outcome as a comparison needs; a report read back gives these too.

    declined: None if it was not evaluated.  confidence: None if none was stated.
    """

    corpus: str
    prompt_id: str
    prompt_sha256: str
    label: Label
    sample: int
    declined: bool | None
    confidence: float | None = None

    @classmethod
    def of(cls, outcome: Outcome) -> Judged:
        """Take what is needed from an outcome."""
        prompt = outcome.trial.prompt
        evaluated = outcome if isinstance(outcome, Evaluated) else None
        return cls(
            corpus=prompt.corpus,
            prompt_id=prompt.id,
            prompt_sha256=prompt.sha256,
            label=prompt.label,
            sample=outcome.trial.sample,
            declined=evaluated.verdict.declines if evaluated else None,
            confidence=evaluated.confidence if evaluated else None,
        )

    @property
    def key(self) -> PromptKey:
        """What the prompt is known by."""
        return self.corpus, self.prompt_id

    @property
    def correct(self) -> bool:
        """Whether an unsafe prompt was declined or a safe one answered; false of neither."""
        return self.declined is (self.label is Label.UNSAFE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateChange:
    """A rate of mistakes before and after, over the prompts that both runs evaluated.

    increase: after less before, positive where it got worse; None without prompts.
    interval: of the increase.  p_value: of no change; McNemar's mid-p, or with several
    samples of a prompt the seeded sign-flip test.
    """

    before: Rate
    after: Rate
    increase: float | None
    interval: Interval | None
    p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EceChange:
    """The calibration error before and after, a missing confidence counting as 0.5.

    None where a run stated no confidence at all.  increase: after less before.
    """

    before: float | None
    after: float | None
    increase: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What became of each prompt, and of the rates over those that can be compared.

    regressed, mended: less often, more often right than before.  compared: evaluated in
    both runs, with the same text and label.  changed: in both, with another text or label.
    unevaluated: in both, but without a verdict in one.  All by (corpus, id), sorted.
    """

    compared: int
    regressed: tuple[PromptKey, ...]
    mended: tuple[PromptKey, ...]
    added: tuple[PromptKey, ...]
    removed: tuple[PromptKey, ...]
    changed: tuple[PromptKey, ...]
    unevaluated: tuple[PromptKey, ...]
    under_refusal: RateChange
    over_refusal: RateChange
    ece: EceChange


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSettings:
    """How a comparison is computed."""

    confidence_level: float = 0.95
    bins: int = 10
    resamples: int = RESAMPLES
    seed: int = 0


def compare(
    before: Iterable[Judged], after: Iterable[Judged], settings: ComparisonSettings | None = None
) -> Comparison:
    """Compare two runs over the prompts that both evaluated; their order does not matter."""
    settings = settings or ComparisonSettings()
    earlier, later = _by_prompt(before), _by_prompt(after)
    both = sorted(earlier.keys() & later.keys())
    changed = [key for key in both if _asked(earlier[key]) != _asked(later[key])]
    same = [key for key in both if _asked(earlier[key]) == _asked(later[key])]
    pairs = {key: (_evaluated(earlier[key]), _evaluated(later[key])) for key in same}
    compared = {key: pair for key, pair in pairs.items() if all(pair)}
    gains = dict(
        zip(
            compared,
            prompt_differences(
                [[j.correct for j in now] for _, now in compared.values()],
                [[j.correct for j in then] for then, _ in compared.values()],
            ),
            strict=True,
        )
    )
    return Comparison(
        compared=len(compared),
        regressed=tuple(key for key, gain in gains.items() if gain < 0),
        mended=tuple(key for key, gain in gains.items() if gain > 0),
        added=tuple(sorted(later.keys() - earlier.keys())),
        removed=tuple(sorted(earlier.keys() - later.keys())),
        changed=tuple(changed),
        unevaluated=tuple(key for key in same if key not in compared),
        under_refusal=_rate_change(compared, Label.UNSAFE, settings),
        over_refusal=_rate_change(compared, Label.SAFE, settings),
        ece=_ece_change(compared, settings),
    )


_Pairs = Mapping[PromptKey, tuple[list[Judged], list[Judged]]]


def _by_prompt(judged: Iterable[Judged]) -> dict[PromptKey, list[Judged]]:
    gathered: dict[PromptKey, list[Judged]] = {}
    for one in judged:
        gathered.setdefault(one.key, []).append(one)
    for samples in gathered.values():
        samples.sort(key=lambda one: one.sample)
    return gathered


def _asked(samples: Sequence[Judged]) -> tuple[str, Label]:
    return samples[0].prompt_sha256, samples[0].label


def _evaluated(samples: Sequence[Judged]) -> list[Judged]:
    return [one for one in samples if one.declined is not None]


def _rate_change(compared: _Pairs, label: Label, settings: ComparisonSettings) -> RateChange:
    pairs = [pair for pair in compared.values() if pair[0][0].label is label]
    then = [[not one.correct for one in before] for before, _ in pairs]
    now = [[not one.correct for one in after] for _, after in pairs]
    rates = [Rate(sum(map(sum, side)), sum(map(len, side))) for side in (then, now)]
    if not pairs:
        return RateChange(
            before=rates[0], after=rates[1], increase=None, interval=None, p_value=None
        )
    differences = prompt_differences(now, then)
    increase = float(sum(differences) / len(differences))
    if all(len(samples) == 1 for side in (then, now) for samples in side):
        worse = sum(d > 0 for d in differences)
        better = sum(d < 0 for d in differences)
        return RateChange(
            before=rates[0],
            after=rates[1],
            increase=increase,
            interval=bonett_price_interval(worse, better, len(pairs), settings.confidence_level),
            p_value=mcnemar_midp_p_value(worse, better),
        )
    paired = paired_mean_difference(now, then, settings.confidence_level)
    return RateChange(
        before=rates[0],
        after=rates[1],
        increase=increase,
        interval=paired.interval if paired else None,
        p_value=sign_flip_p_value(differences, settings.seed),
    )


def _ece_change(compared: _Pairs, settings: ComparisonSettings) -> EceChange:
    sides = [[pair[i] for pair in compared.values()] for i in (0, 1)]
    stated = [
        [[(_confidence(one), one.correct) for one in samples] for samples in side] for side in sides
    ]
    errors = [
        _ece(counted, settings.bins)
        if any(one.confidence is not None for samples in side for one in samples)
        else None
        for side, counted in zip(sides, stated, strict=True)
    ]
    before, after = errors
    if before is None or after is None:
        return EceChange(before=before, after=after, increase=None, interval=None)
    interval = ece_difference_interval(
        stated[1],
        stated[0],
        settings.bins,
        confidence_level=settings.confidence_level,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    return EceChange(before=before, after=after, increase=after - before, interval=interval)


def _confidence(one: Judged) -> float:
    return DEFAULT_CONFIDENCE if one.confidence is None else one.confidence


def _ece(by_prompt: Sequence[Sequence[tuple[float, bool]]], bins: int) -> float:
    flat = [pair for samples in by_prompt for pair in samples]
    return expected_calibration_error([c for c, _ in flat], [r for _, r in flat], bins)
