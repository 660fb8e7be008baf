"""Scores of stated confidence that need no bins, and that only honesty makes best."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from pytest_refusal.metrics.calibration import ConfidenceCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class BrierScore:
    """The mean squared distance of confidence from being right, and its three parts.

    score = reliability - resolution + uncertainty.
    reliability: the calibration part, 0 is best.
    resolution: whether the confidence tells right decisions from wrong ones; 0 for a constant.
    uncertainty: of the decisions themselves, whatever was stated.
    """

    score: float
    reliability: float
    resolution: float
    uncertainty: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLoss:
    """The mean surprise at being right or wrong, in nats.

    clipped: how many confidences lay so near to 0 or 1 that they were moved inwards.
    """

    loss: float
    clipped: int


def brier_score(counts: ConfidenceCounts) -> BrierScore | None:
    """Compute the Brier score and its decomposition over distinct confidences; None without any.

    Source: Murphy (1973).
    """
    total = sum(counts.values())
    if not total:
        return None
    by_value: defaultdict[float, list[int]] = defaultdict(lambda: [0, 0])
    for (stated, right), count in counts.items():
        by_value[stated][0] += count
        by_value[stated][1] += count if right else 0
    base = sum(right for _, right in by_value.values()) / total
    shares = [(stated, n, right / n) for stated, (n, right) in by_value.items()]
    squares = (count * (stated - right) ** 2 for (stated, right), count in counts.items())
    return BrierScore(
        score=math.fsum(squares) / total,
        reliability=math.fsum(n * (stated - share) ** 2 for stated, n, share in shares) / total,
        resolution=math.fsum(n * (share - base) ** 2 for _, n, share in shares) / total,
        uncertainty=base * (1 - base),
    )


def log_loss(counts: ConfidenceCounts, clip: float = 1e-15) -> LogLoss | None:
    """Compute the log loss, with confidences clipped to [clip, 1 - clip]; None without any.

    Unclipped, one confident mistake at 1.0 would make it infinite.
    """
    total = sum(counts.values())
    if not total:
        return None
    losses, clipped = [], 0
    for (stated, right), count in counts.items():
        inside = min(max(stated, clip), 1.0 - clip)
        clipped += count if inside != stated else 0
        losses.append(-count * (math.log(inside) if right else math.log1p(-inside)))
    return LogLoss(loss=math.fsum(losses) / total, clipped=clipped)
