"""How much the calibration numbers would vary with other prompts: bootstrap intervals.

They show the spread and are no test: resampling adds to a calibration error, so that its
interval does not reach 0 even for a perfectly calibrated policy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_refusal.metrics.bootstrap import (
    RESAMPLES,
    percentile_interval,
    resampled_sums,
)
from pytest_refusal.metrics.calibration import (
    adaptive_edges,
    bin_edges,
    bin_places,
    check_stated,
)
from pytest_refusal.metrics.intervals import Interval
from pytest_refusal.metrics.numpy_on_use import Floats, np

if TYPE_CHECKING:
    import numpy.typing as npt

StatedSamples = Sequence[tuple[float, bool]]
"""The samples of one prompt: the confidence, and whether the decision was right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationIntervals:
    """Bootstrap intervals over prompts.

    adaptive_ece: over the bins of the run, whose edges are not drawn anew.
    """

    ece: Interval
    mce: Interval
    adaptive_ece: Interval
    brier: Interval


def calibration_intervals(
    by_prompt: Sequence[StatedSamples],
    bins: int = 10,
    *,
    confidence_level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> CalibrationIntervals | None:
    """Resample prompts, each with all of its samples; None without outcomes."""
    edges = bin_edges(bins)
    # Few prompts differ in their samples: what is the same is computed once.
    alike = Counter(tuple(sorted(samples)) for samples in by_prompt if samples)
    if not alike:
        return None
    flat = _Samples.of(list(alike))
    places = bin_places(flat.stated, edges)
    pairs: Counter[tuple[float, bool]] = Counter()
    for samples, times in alike.items():
        for pair in samples:
            pairs[pair] += times
    inner = adaptive_edges(pairs, bins)
    adaptive_places = np.searchsorted(inner, flat.stated, side="left")
    gaps = flat.stated - flat.right
    columns = [
        flat.by_place(places, len(edges) - 1, gaps),
        flat.by_place(places, len(edges) - 1, np.ones_like(gaps)),
        flat.by_place(adaptive_places, len(inner) + 1, gaps),
        flat.by_place(np.zeros_like(places), 1, gaps * gaps),
    ]
    sums = resampled_sums(np.hstack(columns), resamples, seed, times=list(alike.values()))
    ends = np.cumsum([c.shape[1] for c in columns])[:-1]
    gap, count, adaptive_gap, squares = np.split(sums, ends, axis=1)
    n = count.sum(axis=1)
    by_bin = np.abs(gap) / np.maximum(count, 1.0)
    return CalibrationIntervals(
        ece=percentile_interval(np.abs(gap).sum(axis=1) / n, confidence_level),
        mce=percentile_interval(by_bin.max(axis=1), confidence_level),
        adaptive_ece=percentile_interval(np.abs(adaptive_gap).sum(axis=1) / n, confidence_level),
        brier=percentile_interval(squares[:, 0] / n, confidence_level),
    )


def ece_difference_interval(
    first: Sequence[StatedSamples],
    second: Sequence[StatedSamples],
    bins: int = 10,
    *,
    confidence_level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Compute the interval of a difference of two calibration errors, first less second.

    first, second: the same prompts in the same order, each with samples on both sides; every
    resample draws the same prompts of both.  None without prompts.
    """
    edges = bin_edges(bins)
    if len(first) != len(second) or not all(first) or not all(second):
        raise ValueError("a paired comparison needs the same prompts on both sides, with samples")
    if not first:
        return None
    columns = []
    for side in (first, second):
        flat = _Samples.of(side)
        places = bin_places(flat.stated, edges)
        columns.append(flat.by_place(places, len(edges) - 1, flat.stated - flat.right))
        columns.append(flat.by_place(np.zeros_like(places), 1, np.ones_like(flat.stated)))
    sums = resampled_sums(np.hstack(columns), resamples, seed)
    gaps_1, n_1, gaps_2, n_2 = np.split(sums, np.cumsum([c.shape[1] for c in columns])[:-1], axis=1)
    errors_1, errors_2 = (
        np.abs(gaps_1).sum(axis=1) / n_1[:, 0],
        np.abs(gaps_2).sum(axis=1) / n_2[:, 0],
    )
    return percentile_interval(errors_1 - errors_2, confidence_level)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Samples:
    """All samples in three columns of equal length, sorted within each prompt."""

    prompts: int
    prompt: npt.NDArray[np.intp]
    stated: Floats
    right: Floats

    @classmethod
    def of(cls, by_prompt: Sequence[StatedSamples]) -> _Samples:
        prompt = np.repeat(np.arange(len(by_prompt)), [len(samples) for samples in by_prompt])
        pairs = np.array([pair for samples in by_prompt for pair in samples], dtype=np.float64)
        check_stated(pairs[:, 0])
        # Sorted, so that the order of a prompt's samples changes no digit of its sums.
        order = np.lexsort((pairs[:, 1], pairs[:, 0], prompt))
        return cls(
            prompts=len(by_prompt),
            prompt=prompt[order],
            stated=pairs[order, 0],
            right=pairs[order, 1],
        )

    def by_place(self, places: npt.NDArray[np.intp], width: int, values: Floats) -> Floats:
        """Sum `values` by prompt and place; shape (prompts, width)."""
        cells = np.bincount(self.prompt * width + places, values, self.prompts * width)
        return np.asarray(cells.reshape(self.prompts, width), dtype=np.float64)
