"""How far from its observed value a rate may truly lie.

Covers the chance of which prompts were asked. Does not cover the classifier's errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from pytest_refusal.metrics.distributions import beta_quantile, check_level, two_sided_z
from pytest_refusal.metrics.rates import Rate

#: Below this many prompts a percentage says less than "k of n".
FEWEST_FOR_A_PERCENTAGE = 10


class IntervalMethod(StrEnum):
    """How an interval is computed."""

    WILSON = "wilson"
    CLOPPER_PEARSON = "clopper-pearson"
    JEFFREYS = "jeffreys"
    CLUSTERED_WILSON = "clustered-wilson"
    BONETT_PRICE = "bonett-price"
    PAIRED_T = "paired-t"
    BOOTSTRAP = "bootstrap-percentile"
    SQUARE_AND_ADD = "square-and-add"
    LANG_REICZIGEL = "lang-reiczigel"
    NORMAL = "normal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The range in which a quantity lies with confidence `confidence_level`, two-sided."""

    lower: float
    upper: float
    confidence_level: float
    method: IntervalMethod

    @property
    def width(self) -> float:
        """Upper end less lower end."""
        return self.upper - self.lower

    def holds(self, value: float) -> bool:
        """Tell whether `value` lies in the interval, ends included."""
        return self.lower <= value <= self.upper


def wilson_interval(successes: float, n: float, confidence_level: float = 0.95) -> Interval | None:
    """Compute the score interval of a rate; None for n = 0.

    successes, n: not necessarily whole, so that n may be an effective number of samples.
    Raises ValueError for an impossible count or level.  Source: Wilson (1927).
    """
    z = two_sided_z(confidence_level)
    _check_counts(successes, n)
    if not n:
        return None
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # At the ends the formula gives exactly 0 and 1 but for rounding.
    return Interval(
        lower=max(0.0, centre - reach) if successes > 0 else 0.0,
        upper=min(1.0, centre + reach) if successes < n else 1.0,
        confidence_level=confidence_level,
        method=IntervalMethod.WILSON,
    )


def clopper_pearson_interval(
    successes: float, n: float, confidence_level: float = 0.95
) -> Interval | None:
    """Compute the exact interval of a rate, never too short; None for n = 0.

    Arguments and errors are those of `wilson_interval`.  Source: Clopper & Pearson (1934).
    """
    check_level(confidence_level)
    _check_counts(successes, n)
    if not n:
        return None
    one_sided = 0.5 + confidence_level / 2
    return Interval(
        lower=clopper_pearson_lower_bound(successes, n, one_sided),
        upper=clopper_pearson_upper_bound(successes, n, one_sided),
        confidence_level=confidence_level,
        method=IntervalMethod.CLOPPER_PEARSON,
    )


def jeffreys_interval(
    successes: float, n: float, confidence_level: float = 0.95
) -> Interval | None:
    """Compute the interval of a rate under Jeffreys' prior; None for n = 0.

    Its ends are 0 and 1 where nothing or everything counted.
    Arguments and errors are those of `wilson_interval`.  Source: Brown, Cai & DasGupta (2001).
    """
    check_level(confidence_level)
    _check_counts(successes, n)
    if not n:
        return None
    tail = (1 - confidence_level) / 2
    a, b = successes + 0.5, n - successes + 0.5
    return Interval(
        lower=beta_quantile(tail, a, b) if successes > 0 else 0.0,
        upper=beta_quantile(1 - tail, a, b) if successes < n else 1.0,
        confidence_level=confidence_level,
        method=IntervalMethod.JEFFREYS,
    )


def clopper_pearson_upper_bound(
    successes: float, n: float, confidence_level: float = 0.95
) -> float:
    """Find the rate that the true one lies below, with one-sided confidence; 1.0 for n = 0."""
    check_level(confidence_level)
    _check_counts(successes, n)
    if successes >= n:
        return 1.0
    return beta_quantile(confidence_level, successes + 1, n - successes)


def clopper_pearson_lower_bound(
    successes: float, n: float, confidence_level: float = 0.95
) -> float:
    """Find the rate that the true one lies above, with one-sided confidence; 0.0 for n = 0."""
    check_level(confidence_level)
    _check_counts(successes, n)
    if successes <= 0:
        return 0.0
    return beta_quantile(1 - confidence_level, successes, n - successes + 1)


_BY_METHOD: dict[IntervalMethod, Callable[[float, float, float], Interval | None]] = {
    IntervalMethod.WILSON: wilson_interval,
    IntervalMethod.CLOPPER_PEARSON: clopper_pearson_interval,
    IntervalMethod.JEFFREYS: jeffreys_interval,
}


#: The methods that `rate_interval` takes.
OF_RATES = tuple(_BY_METHOD)


def rate_interval(
    rate: Rate,
    method: IntervalMethod = IntervalMethod.WILSON,
    confidence_level: float = 0.95,
) -> Interval | None:
    """Compute the interval of an observed rate by a method of single counts; None for no data."""
    if method not in _BY_METHOD:
        msg = f"{method} is no interval of a rate, choose one of: {', '.join(_BY_METHOD)}"
        raise ValueError(msg)
    return _BY_METHOD[method](rate.numerator, rate.denominator, confidence_level)


def is_too_few(rate: Rate) -> bool:
    """Tell whether there are so few prompts that "k of n" should stand for the percentage."""
    return rate.denominator < FEWEST_FOR_A_PERCENTAGE


def _check_counts(successes: float, n: float) -> None:
    if not 0 <= successes <= n or not math.isfinite(n):
        msg = f"not a rate: {successes} of {n}"
        raise ValueError(msg)
