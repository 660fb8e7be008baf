"""What chance alone contributes to a calibration error on so few outcomes."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from pytest_refusal.metrics.calibration import (
    ConfidenceCounts,
    bin_edges,
    bin_places,
    bins_of,
)
from pytest_refusal.metrics.numpy_on_use import Floats, np

# A bin of more outcomes is as good as normal: the error of the mean is below 1e-4 of it.
_MOST_EXACT = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DebiasedError:
    """The squared calibration error less what chance adds to it; may be negative.

    left_out: outcomes alone in their bin, which say nothing about chance.
    """

    squared: float
    left_out: int


def chance_level(counts: ConfidenceCounts, bins: int) -> float | None:
    """Compute the calibration error that these confidences would show if they were true.

    The mean over what a perfectly calibrated policy might do; an error below it is no
    evidence of miscalibration.  None without outcomes.
    """
    edges = bin_edges(bins)
    by_value: Counter[float] = Counter()
    for (stated, _), count in counts.items():
        by_value[stated] += count
    total = by_value.total()
    if not total:
        return None
    by_bin: dict[int, list[tuple[float, int]]] = {}
    values = sorted(by_value)
    for place, stated in zip(bin_places(values, edges).tolist(), values, strict=True):
        by_bin.setdefault(place, []).append((stated, by_value[stated]))
    return math.fsum(_expected_gap(members) for members in by_bin.values()) / total


def debiased_squared_error(counts: ConfidenceCounts, bins: int) -> DebiasedError | None:
    """Estimate the squared calibration error without bias; None without a bin of two.

    Of the *squared* error: not to be held against an ECE or its ceiling.
    Source: Kumar, Liang & Ma (2019).
    """
    table = bins_of(counts, bins)
    used = [b for b in table if b.count > 1]
    if not used:
        return None
    terms = (b.count * (b.gap**2 - b.accuracy * (1 - b.accuracy) / (b.count - 1)) for b in used)
    return DebiasedError(
        squared=math.fsum(terms) / sum(b.count for b in used), left_out=len(table) - len(used)
    )


def _expected_gap(members: list[tuple[float, int]]) -> float:
    # E|K - mean of K|, K the number of right decisions among (confidence, how many).
    mean = math.fsum(stated * count for stated, count in members)
    n = sum(count for _, count in members)
    if n > _MOST_EXACT:
        variance = math.fsum(stated * (1 - stated) * count for stated, count in members)
        return math.sqrt(2 * variance / math.pi)
    chances = np.ones(1)
    for stated, count in members:
        chances = np.convolve(chances, _binomial_chances(count, stated))
    return math.fsum((chances * np.abs(np.arange(n + 1) - mean)).tolist())


def _binomial_chances(n: int, p: float) -> Floats:
    # P(X = 0) ... P(X = n); in logarithms, since the powers alone would vanish.
    if n == 1:
        return np.array([1.0 - p, p])
    if p in (0.0, 1.0):
        certain = np.zeros(n + 1)
        certain[n if p else 0] = 1.0
        return certain
    k = np.arange(n + 1)
    log_ways = np.array([math.lgamma(i + 1) for i in range(n + 1)])
    logs = log_ways[-1] - log_ways - log_ways[::-1] + k * math.log(p) + (n - k) * math.log1p(-p)
    return np.asarray(np.exp(logs), dtype=np.float64)
