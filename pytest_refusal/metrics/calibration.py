"""Whether stated confidence agrees with being right. Does not read confidences from text.

Everything is computed from counts of distinct (confidence, correct) pairs, with exactly
rounded sums: no order of outcomes, and no way of merging them, changes a digit.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_refusal.metrics.intervals import Interval, wilson_interval
from pytest_refusal.metrics.numpy_on_use import Floats, np

if TYPE_CHECKING:
    import numpy.typing as npt

ConfidenceCounts = Mapping[tuple[float, bool], int]
"""How often each (stated confidence, decision was right) occurred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """The outcomes whose confidence lies in one bin; there is at least one.

    index: from 0.  lower, upper: the bin's edges; only the last bin has its upper one.
    correct: how many of the `count` outcomes were right.
    """

    index: int
    lower: float
    upper: float
    count: int
    correct: int
    mean_confidence: float

    @property
    def accuracy(self) -> float:
        """The share that was right."""
        return self.correct / self.count

    @property
    def gap(self) -> float:
        """Confidence less accuracy: positive where the policy is over-confident."""
        return self.mean_confidence - self.accuracy

    def accuracy_interval(self, confidence_level: float = 0.95) -> Interval | None:
        """Compute Wilson's interval of the accuracy, for the error bars of a diagram."""
        return wilson_interval(self.correct, self.count, confidence_level)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveError:
    """A calibration error over bins of about equal size.

    bins: how many there are; fewer than asked for where equal confidences stay together.
    """

    error: float
    bins: int


def expected_calibration_error(
    confidence: npt.ArrayLike, correct: npt.ArrayLike, bins: int = 10
) -> float:
    """Compute the gap between confidence and accuracy, weighted by bin size.

    confidence: shape (n,), each in [0, 1].  correct: shape (n,), booleans.
    Bins are half-open, the last one closed.  Returns a value in [0, 1];
    0.0 for n = 0 (a report says null).
    Raises ValueError for unequal lengths, NaN, or values outside [0, 1], naming the index.
    Source: Naeini et al. (2015), equation given in docs/metrics.md.
    """
    return calibration_error(count_confidences(confidence, correct), bins)


def calibration_bins(
    confidence: npt.ArrayLike, correct: npt.ArrayLike, bins: int = 10
) -> tuple[CalibrationBin, ...]:
    """Tabulate confidence and accuracy by bin, leaving out the empty ones.

    Arguments, errors and bins are those of `expected_calibration_error`.
    """
    return bins_of(count_confidences(confidence, correct), bins)


def count_confidences(
    confidence: npt.ArrayLike, correct: npt.ArrayLike
) -> Counter[tuple[float, bool]]:
    """Count the distinct pairs of two equally long sequences, after checking them."""
    stated = np.asarray(confidence, dtype=np.float64)
    right = np.asarray(correct, dtype=np.float64)
    if stated.ndim != 1 or stated.shape != right.shape:
        msg = (
            "confidence and correct must be two sequences of the same length, "
            f"not of shapes {stated.shape} and {right.shape}"
        )
        raise ValueError(msg)
    check_stated(stated)
    neither = np.flatnonzero(~((right == 0.0) | (right == 1.0)))
    if neither.size:
        msg = f"correct[{neither[0]}] is {right[neither[0]]}: it must be true or false"
        raise ValueError(msg)
    return Counter(zip(stated.tolist(), (right == 1.0).tolist(), strict=True))


def check_stated(stated: Floats) -> None:
    """Raise ValueError for the first confidence that is no number from 0 to 1."""
    # Negated, since NaN compares false with everything.
    outside = np.flatnonzero(~((stated >= 0.0) & (stated <= 1.0)))
    if outside.size:
        msg = f"confidence[{outside[0]}] is {stated[outside[0]]}: it must lie in [0, 1]"
        raise ValueError(msg)


def calibration_error(counts: ConfidenceCounts, bins: int) -> float:
    """Compute the expected calibration error of counted outcomes; 0.0 if there are none."""
    sums = _sums_by_bin(counts, _edges(bins))
    total = sum(counts.values())
    if not total:
        return 0.0
    return math.fsum(abs(stated - right) for _, stated, right in sums.values()) / total


def bins_of(counts: ConfidenceCounts, bins: int) -> tuple[CalibrationBin, ...]:
    """Tabulate counted outcomes by bin, leaving out the empty ones."""
    edges = _edges(bins)
    return tuple(
        CalibrationBin(
            index=index,
            lower=edges[index],
            upper=edges[index + 1],
            count=count,
            correct=right,
            mean_confidence=stated / count,
        )
        for index, (count, stated, right) in sorted(_sums_by_bin(counts, edges).items())
    )


def maximum_calibration_error(counts: ConfidenceCounts, bins: int) -> float | None:
    """Find the largest gap of a bin, or None if there are no outcomes.

    With few outcomes that is the gap of whichever bin has one outcome.
    """
    return max((abs(b.gap) for b in bins_of(counts, bins)), default=None)


def adaptive_calibration_error(counts: ConfidenceCounts, bins: int) -> AdaptiveError | None:
    """Compute the calibration error over bins of about equal size; None without outcomes.

    Equal confidences stay in one bin.  Source: Nguyen & O'Connor (2015), Nixon et al. (2019).
    """
    total = sum(counts.values())
    if not total:
        return None
    stated = np.array([value for value, _ in counts], dtype=np.float64)
    places = np.searchsorted(adaptive_edges(counts, bins), stated, side="left")
    sums = _sums_by_place(counts, places.tolist())
    gaps = math.fsum(abs(stated - right) for _, stated, right in sums.values())
    return AdaptiveError(error=gaps / total, bins=len(sums))


def adaptive_edges(counts: ConfidenceCounts, bins: int) -> Floats:
    """Find the inner edges of at most `bins` bins of about equal size."""
    check_bins(bins)
    pairs = sorted(counts.items())
    stated = np.repeat([value for (value, _), _ in pairs], [count for _, count in pairs])
    if not stated.size:
        return stated
    chunks = np.array_split(stated, min(int(bins), len(stated)))
    # Half-way between neighbours. Of equal ones that is their value, and they stay together.
    return np.unique([(a[-1] + b[0]) / 2 for a, b in pairwise(chunks)])


def bin_edges(bins: int) -> Floats:
    """Give the `bins` + 1 edges of equally wide bins; ValueError unless `bins` is at least 1."""
    return np.array(_edges(bins))


def bin_places(stated: npt.ArrayLike, edges: Floats) -> npt.NDArray[np.intp]:
    """Find the bin of each confidence: half-open bins, the last one closed."""
    values = np.asarray(stated, dtype=np.float64)
    return np.minimum(np.searchsorted(edges, values, side="right") - 1, len(edges) - 2)


# Their edges are made one by one.
_MOST_BINS = 1_000_000


def check_bins(bins: int) -> None:
    """Raise ValueError unless `bins` is a whole number from 1 to a million."""
    if not 1 <= bins <= _MOST_BINS or bins != int(bins):
        msg = f"bins must be a whole number from 1 to {_MOST_BINS}, not {bins!r}"
        raise ValueError(msg)


def _edges(bins: int) -> list[float]:
    # To the last digit those of np.linspace(0, 1, bins + 1), which would need numpy.
    check_bins(bins)
    step = 1.0 / int(bins)
    return [place * step for place in range(int(bins))] + [1.0]


def _sums_by_bin(
    counts: ConfidenceCounts, edges: Sequence[float]
) -> dict[int, tuple[int, float, int]]:
    last = len(edges) - 2
    return _sums_by_place(
        counts, [min(bisect_right(edges, stated) - 1, last) for stated, _ in counts]
    )


def _sums_by_place(
    counts: ConfidenceCounts, places: Sequence[int]
) -> dict[int, tuple[int, float, int]]:
    # By bin: how many outcomes, the sum of their confidences, how many were right.
    members: dict[int, list[tuple[float, bool, int]]] = {}
    for place, ((stated, right), count) in zip(places, counts.items(), strict=True):
        members.setdefault(place, []).append((stated, right, count))
    return {
        place: (
            sum(count for _, _, count in inside),
            math.fsum(stated * count for stated, _, count in inside),
            sum(count for _, right, count in inside if right),
        )
        for place, inside in members.items()
    }
