"""How many prompts it takes: for an interval, to settle a ceiling, to see a change."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from pytest_refusal.metrics.distributions import (
    binomial_at_least,
    normal_quantile,
    two_sided_z,
)
from pytest_refusal.metrics.intervals import wilson_interval

# Rounding makes the power dip a little even at its low points; that many in a row settle it.
_LOW_POINTS_IN_A_ROW = 50
# With more prompts than this nobody plans; the search ends there.
_MOST_PROMPTS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactTest:
    """The exact one-sided test of a ceiling with n prompts.

    critical: the fewest misses at which it fails; n + 1 if it cannot.
    size: how often it fails a policy exactly at the ceiling.  power: one at the true rate.
    """

    critical: int
    size: float
    power: float


def exact_test(n: int, ceiling: float, true_rate: float, alpha: float = 0.05) -> ExactTest:
    """Compute how well n prompts show that a rate exceeds a ceiling."""
    _check_open(alpha=alpha)
    _check_closed(ceiling=ceiling, true_rate=true_rate)
    critical = _critical(n, ceiling, alpha)
    return ExactTest(
        critical=critical,
        size=binomial_at_least(critical, n, ceiling),
        power=binomial_at_least(critical, n, true_rate),
    )


def prompts_for_interval_width(rate: float, width: float, confidence_level: float = 0.95) -> int:
    """Find the fewest prompts with which Wilson's interval at `rate` is no wider than `width`.

    width: the whole width, upper end less lower end.
    """
    two_sided_z(confidence_level)
    _check_closed(rate=rate)
    _check_open(width=width)

    def is_enough(n: int) -> bool:
        interval = wilson_interval(rate * n, n, confidence_level)
        return interval is not None and interval.width <= width

    return _fewest(is_enough)


def prompts_to_show_exceeded(
    ceiling: float, true_rate: float, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Find how many prompts show, with `power`, that a true rate exceeds a lower ceiling.

    The power of the exact test goes up and down with n: the fewest prompts from which on
    it stays at or above `power`.
    """
    _check_open(power=power, alpha=alpha)
    _check_closed(ceiling=ceiling, true_rate=true_rate)
    if not true_rate > ceiling:
        msg = f"a rate of {true_rate} does not exceed a ceiling of {ceiling}"
        raise ValueError(msg)
    if ceiling == 0.0:
        # One miss settles it.
        return _fewest(lambda n: binomial_at_least(1, n, true_rate) >= power)

    def power_at(n: int) -> float:
        return binomial_at_least(_critical(n, ceiling, alpha), n, true_rate)

    def first_with(critical: int) -> int:
        # The power is lowest where one more miss has just become necessary.
        return _fewest(lambda n: _critical(n, ceiling, alpha) >= critical)

    critical = _fewest(lambda k: power_at(first_with(k)) >= power)
    last_low, k = critical - 1, critical
    while k - last_low <= _LOW_POINTS_IN_A_ROW:
        if power_at(first_with(k)) < power:
            last_low = k
        k += 1
    if last_low < 1:
        return first_with(1)
    start = first_with(last_low)
    return start + _fewest(lambda more: power_at(start + more) >= power)


def prompts_to_show_below(
    ceiling: float, true_rate: float, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Find how many prompts show, with `power`, that a true rate is below a ceiling.

    What `decide = "proven"` asks for.
    """
    if not true_rate < ceiling:
        msg = f"a rate of {true_rate} is not below a ceiling of {ceiling}"
        raise ValueError(msg)
    # The same test, of what went well.
    return prompts_to_show_exceeded(1.0 - ceiling, 1.0 - true_rate, power, alpha)


def prompts_to_detect_change_paired(
    only_first_share: float, only_second_share: float, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Find how many prompts, asked in both runs, show a change.

    only_first_share, only_second_share: of the prompts, those that change one way and the
    other.  Source: Connor (1987).
    """
    _check_open(power=power, alpha=alpha)
    _check_closed(only_first_share=only_first_share, only_second_share=only_second_share)
    changed = only_first_share + only_second_share
    difference = abs(only_first_share - only_second_share)
    if not difference or changed > 1.0:
        msg = (
            f"not a change of a rate: {only_first_share} one way and {only_second_share} the other"
        )
        raise ValueError(msg)
    z_alpha, z_power = normal_quantile(1 - alpha / 2), normal_quantile(power)
    within = max(0.0, changed - difference**2)
    return _ceil(((z_alpha * math.sqrt(changed) + z_power * math.sqrt(within)) / difference) ** 2)


def prompts_to_detect_change_unpaired(
    rate_before: float, rate_after: float, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Find how many prompts in each of two runs over different prompts show a change.

    By the distance of arcsines of the two rates (Cohen's h).
    """
    _check_open(power=power, alpha=alpha)
    _check_closed(rate_before=rate_before, rate_after=rate_after)
    h = 2 * (math.asin(math.sqrt(rate_before)) - math.asin(math.sqrt(rate_after)))
    if not h:
        msg = f"not a change of a rate: from {rate_before} to {rate_after}"
        raise ValueError(msg)
    z = normal_quantile(1 - alpha / 2) + normal_quantile(power)
    return _ceil(2 * (z / h) ** 2)


def _critical(n: int, ceiling: float, alpha: float) -> int:
    # The fewest misses that are too many at the ceiling, by halving, since the chance falls.
    too_few, enough = -1, n + 1
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if binomial_at_least(middle, n, ceiling) <= alpha + 1e-12:
            enough = middle
        else:
            too_few = middle
    return enough


def _fewest(is_enough: Callable[[int], bool]) -> int:
    # The first whole number from 1 on that is enough, given that all later ones are too.
    enough = 1
    while not is_enough(enough):
        enough *= 2
        if enough > _MOST_PROMPTS:
            msg = f"it would take more than {_MOST_PROMPTS:,} prompts"
            raise ValueError(msg)
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if is_enough(middle):
            enough = middle
        else:
            too_few = middle
    return enough


def _ceil(n: float) -> int:
    # 155.00000000001 prompts are 155.
    return math.ceil(n - 1e-9)


def _check_open(**numbers: float) -> None:
    for name, number in numbers.items():
        if not 0.0 < number < 1.0:
            msg = f"{name} is {number}: it must lie between 0 and 1"
            raise ValueError(msg)


def _check_closed(**numbers: float) -> None:
    for name, number in numbers.items():
        if not 0.0 <= number <= 1.0:
            msg = f"{name} is {number}: it must lie in [0, 1]"
            raise ValueError(msg)
