"""Resampling of prompts, seeded and vectorised.  Does not know what the columns mean.

Only for statistics of sums over prompts, which are all that are needed: a resample is then
a vector of how often each distinct prompt was drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_refusal.metrics.distributions import check_level
from pytest_refusal.metrics.intervals import Interval, IntervalMethod
from pytest_refusal.metrics.numpy_on_use import Floats, np

if TYPE_CHECKING:
    import numpy.typing as npt

RESAMPLES = 2_000

# With more distinct rows than this share, drawing prompts one by one is the faster way.
_FEW_DISTINCT = 0.05
_DRAWS_AT_ONCE = 2_000_000


def resampled_sums(
    rows: Floats,
    resamples: int = RESAMPLES,
    seed: int = 0,
    *,
    times: Sequence[int] | None = None,
) -> Floats:
    """Sum the rows of `resamples` samples with replacement, each as large as `rows`.

    rows: shape (prompts, columns), at least one prompt; their order does not matter.
    times: how often each row is there; None for once.
    Returns shape (resamples, columns).
    """
    distinct, place = np.unique(rows, axis=0, return_inverse=True)
    counts = np.bincount(place.ravel(), times).astype(np.intp)
    rng, n = np.random.default_rng(seed), int(counts.sum())
    if len(distinct) <= max(8, _FEW_DISTINCT * n):
        drawn = rng.multinomial(n, counts / n, size=resamples)
        return np.asarray(drawn @ distinct, dtype=np.float64)
    which = np.repeat(np.arange(len(distinct)), counts)
    sums = np.empty((resamples, rows.shape[1]))
    at_once = max(1, _DRAWS_AT_ONCE // n)
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        chosen = which[rng.integers(0, n, size=(size, n))]
        # One count for all resamples at once: each has its own range of numbers.
        offsets = np.arange(size)[:, None] * len(distinct)
        drawn = np.bincount((chosen + offsets).ravel(), minlength=size * len(distinct))
        sums[start : start + size] = drawn.reshape(size, -1) @ distinct
    return sums


def percentile_interval(statistics: Floats, confidence_level: float = 0.95) -> Interval:
    """Take the middle share of resampled statistics."""
    check_level(confidence_level)
    tail = (1 - confidence_level) / 2
    lower, upper = np.quantile(statistics, [tail, 1 - tail])
    return Interval(
        lower=float(lower),
        upper=float(upper),
        confidence_level=confidence_level,
        method=IntervalMethod.BOOTSTRAP,
    )


def mean_interval(
    values: npt.ArrayLike,
    *,
    confidence_level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Compute the bootstrap interval of a mean of one value for each prompt; None without any."""
    column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    if not len(column):
        return None
    sums = resampled_sums(column, resamples, seed)
    return percentile_interval(sums[:, 0] / len(column), confidence_level)
