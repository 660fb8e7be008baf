"""Whether stated confidence agrees with being right. Does not read confidences from text.

Everything is computed from counts of distinct (confidence, correct) pairs, with exactly
rounded sums: no order of outcomes, and no way of merging them, changes a digit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

ConfidenceCounts = Mapping[tuple[float, bool], int]
"""How often each (stated confidence, decision was right) occurred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """The outcomes whose confidence lies in one bin; there is at least one.

    index: from 0.  lower, upper: the bin's edges; only the last bin has its upper one.
    """

    index: int
    lower: float
    upper: float
    count: int
    mean_confidence: float
    accuracy: float

    @property
    def gap(self) -> float:
        """Confidence less accuracy: positive where the policy is over-confident."""
        return self.mean_confidence - self.accuracy


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
    # Negated, since NaN compares false with everything.
    outside = np.flatnonzero(~((stated >= 0.0) & (stated <= 1.0)))
    if outside.size:
        msg = f"confidence[{outside[0]}] is {stated[outside[0]]}: it must lie in [0, 1]"
        raise ValueError(msg)
    neither = np.flatnonzero(~((right == 0.0) | (right == 1.0)))
    if neither.size:
        msg = f"correct[{neither[0]}] is {right[neither[0]]}: it must be true or false"
        raise ValueError(msg)
    return Counter(zip(stated.tolist(), (right == 1.0).tolist(), strict=True))


def calibration_error(counts: ConfidenceCounts, bins: int) -> float:
    """Compute the expected calibration error of counted outcomes; 0.0 if there are none."""
    sums = _sums_by_bin(counts, _bin_edges(bins))
    total = sum(counts.values())
    if not total:
        return 0.0
    return math.fsum(abs(stated - right) for _, stated, right in sums.values()) / total


def bins_of(counts: ConfidenceCounts, bins: int) -> tuple[CalibrationBin, ...]:
    """Tabulate counted outcomes by bin, leaving out the empty ones."""
    edges = _bin_edges(bins)
    return tuple(
        CalibrationBin(
            index=index,
            lower=float(edges[index]),
            upper=float(edges[index + 1]),
            count=count,
            mean_confidence=stated / count,
            accuracy=right / count,
        )
        for index, (count, stated, right) in sorted(_sums_by_bin(counts, edges).items())
    )


def _bin_edges(bins: int) -> npt.NDArray[np.float64]:
    if bins < 1 or bins != int(bins):
        msg = f"bins must be a whole number of at least 1, not {bins!r}"
        raise ValueError(msg)
    return np.linspace(0.0, 1.0, int(bins) + 1)


def _sums_by_bin(
    counts: ConfidenceCounts, edges: npt.NDArray[np.float64]
) -> dict[int, tuple[int, float, int]]:
    # By bin: how many outcomes, the sum of their confidences, how many were right.
    values = np.array([stated for stated, _ in counts], dtype=np.float64)
    places = np.minimum(np.searchsorted(edges, values, side="right") - 1, len(edges) - 2)
    members: dict[int, list[tuple[float, bool, int]]] = {}
    for place, ((stated, right), count) in zip(places.tolist(), counts.items(), strict=True):
        members.setdefault(place, []).append((stated, right, count))
    return {
        place: (
            sum(count for _, _, count in inside),
            math.fsum(stated * count for stated, _, count in inside),
            sum(count for _, right, count in inside if right),
        )
        for place, inside in members.items()
    }
