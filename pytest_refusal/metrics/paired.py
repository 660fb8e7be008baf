"""Two runs over the same prompts: what the prompts that changed say about the change."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from pytest_refusal.metrics.distributions import check_level, t_quantile, two_sided_z
from pytest_refusal.metrics.intervals import Interval, IntervalMethod
from pytest_refusal.metrics.numpy_on_use import np

RESAMPLES = 9_999


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """The mean over prompts of first less second, several samples of each being one mean.

    standard_error, interval: None for fewer than two prompts.
    """

    difference: float
    prompts: int
    standard_error: float | None
    interval: Interval | None


def mcnemar_exact_p_value(only_first: int, only_second: int) -> float:
    """Compute how probable so lopsided a change is, two-sided, if neither way were favoured.

    only_first, only_second: prompts that count in one run and not in the other.
    """
    at_most, _ = _fair_coin(only_first, only_second)
    return min(1.0, 2 * at_most)


def mcnemar_midp_p_value(only_first: int, only_second: int) -> float:
    """Compute McNemar's p-value with half the weight on what was observed.

    Less timid than the exact one and close to its nominal size.
    Source: Fagerland, Lydersen & Laake (2013).
    """
    at_most, exactly = _fair_coin(only_first, only_second)
    return min(1.0, 2 * at_most - exactly)


def bonett_price_interval(
    only_first: int, only_second: int, n: int, confidence_level: float = 0.95
) -> Interval | None:
    """Compute the interval of a difference of two paired rates, first less second.

    n: the prompts that both runs have; None for n = 0.  Source: Bonett & Price (2012).
    """
    z = two_sided_z(confidence_level)
    if min(only_first, only_second) < 0 or only_first + only_second > n:
        msg = f"not a paired table: {only_first} and {only_second} of {n}"
        raise ValueError(msg)
    if not n:
        return None
    first, second = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    difference = first - second
    reach = z * math.sqrt((first + second - difference * difference) / (n + 2))
    return Interval(
        lower=max(-1.0, difference - reach),
        upper=min(1.0, difference + reach),
        confidence_level=confidence_level,
        method=IntervalMethod.BONETT_PRICE,
    )


def paired_mean_difference(
    first: Sequence[Sequence[bool]],
    second: Sequence[Sequence[bool]],
    confidence_level: float = 0.95,
) -> PairedDifference | None:
    """Compare two rates over several samples of the same prompts; None without prompts.

    first, second: for each prompt, in the same order, whether each sample counted.
    The interval is Student's over the prompts' differences.  Source: Miller (2024).
    """
    check_level(confidence_level)
    differences = prompt_differences(first, second)
    n = len(differences)
    if not n:
        return None
    mean = sum(differences, Fraction(0)) / n
    if n == 1:
        return PairedDifference(
            difference=float(mean), prompts=1, standard_error=None, interval=None
        )
    variance = sum(((d - mean) ** 2 for d in differences), Fraction(0)) / (n - 1)
    error = math.sqrt(variance / n)
    reach = t_quantile(0.5 + confidence_level / 2, n - 1) * error
    interval = Interval(
        lower=max(-1.0, float(mean) - reach),
        upper=min(1.0, float(mean) + reach),
        confidence_level=confidence_level,
        method=IntervalMethod.PAIRED_T,
    )
    return PairedDifference(
        difference=float(mean), prompts=n, standard_error=error, interval=interval
    )


def sign_flip_p_value(differences: Sequence[Fraction], seed: int = 0) -> float:
    """Compute how probable so large a mean difference is if every sign were a coin's.

    differences: one for each prompt.  McNemar's exact test where each is -1, 0 or 1, but
    drawn (seeded) rather than enumerated.
    """
    scale = math.lcm(*(d.denominator for d in differences)) if differences else 1
    sizes = Counter(abs(d.numerator * (scale // d.denominator)) for d in differences)
    observed = abs(sum(d.numerator * (scale // d.denominator) for d in differences))
    rng = np.random.default_rng(seed)
    sums = np.zeros(RESAMPLES, dtype=np.float64)
    for size, count in sorted(sizes.items()):
        sums += size * (2.0 * rng.binomial(count, 0.5, RESAMPLES) - count)
    return (1 + int(np.count_nonzero(np.abs(sums) >= observed))) / (1 + RESAMPLES)


def prompt_differences(
    first: Sequence[Sequence[bool]], second: Sequence[Sequence[bool]]
) -> list[Fraction]:
    """Give each prompt's share in `first` less its share in `second`, exactly."""
    return [_share(a) - _share(b) for a, b in zip(first, second, strict=True)]


def _share(samples: Sequence[bool]) -> Fraction:
    return Fraction(sum(map(bool, samples)), len(samples))


def _fair_coin(heads: int, tails: int) -> tuple[float, float]:
    # P(X <= k) and P(X = k) for the rarer side of that many throws, in exact integers.
    n, k = heads + tails, min(heads, tails)
    if k < 0:
        msg = f"not a paired table: {heads} and {tails}"
        raise ValueError(msg)
    term = at_most = 1
    for i in range(k):
        term = term * (n - i) // (i + 1)
        at_most += term
    return at_most / 2**n, term / 2**n
