"""The few distributions that the numbers need, from the standard library alone."""

from __future__ import annotations

import math
from statistics import NormalDist

# The absolute precision of a bisected quantile, 2 ** -64, is well below that of a double near 1.
_HALVINGS = 64
_MOST_TERMS = 100_000


def check_level(confidence_level: float) -> None:
    """Raise ValueError unless `confidence_level` lies strictly between 0 and 1."""
    if not 0.0 < confidence_level < 1.0:
        msg = f"a confidence level lies strictly between 0 and 1, {confidence_level} does not"
        raise ValueError(msg)


def normal_quantile(probability: float) -> float:
    """Find the value that a standard normal variable stays below with `probability`."""
    return NormalDist().inv_cdf(probability)


def two_sided_z(confidence_level: float) -> float:
    """Find how many standard errors an interval reaches to either side; 1.96 for 0.95."""
    check_level(confidence_level)
    return normal_quantile(0.5 + confidence_level / 2)


def beta_cdf(x: float, a: float, b: float) -> float:
    """Compute the regularised incomplete beta function I_x(a, b), for a, b > 0."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    front = math.exp(log_front)
    # The fraction converges fast on one side of the mean; the other side is its complement.
    if x < (a + 1.0) / (a + b + 2.0):
        return min(1.0, front * _beta_fraction(x, a, b) / a)
    return max(0.0, 1.0 - front * _beta_fraction(1.0 - x, b, a) / b)


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Find the x at which `beta_cdf` reaches `probability`, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if beta_cdf(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def binomial_at_least(k: float, n: float, p: float) -> float:
    """Compute P(X >= k) of a binomial count X of n with chance p.

    k and n need not be whole: between whole numbers the incomplete beta function joins them.
    """
    if k <= 0:
        return 1.0
    return 0.0 if k > n else beta_cdf(p, k, n - k + 1)


def binomial_at_most(k: float, n: float, p: float) -> float:
    """Compute P(X <= k) of a binomial count X of n with chance p; k and n need not be whole."""
    if k < 0:
        return 0.0
    return 1.0 if k >= n else beta_cdf(1.0 - p, n - k, k + 1)


def t_quantile(probability: float, degrees: float) -> float:
    """Find the value that Student's t with `degrees` of freedom stays below, for p > 1/2."""
    tail = beta_quantile(2 * (1.0 - probability), degrees / 2, 0.5)
    return math.sqrt(degrees * (1.0 - tail) / tail)


def _beta_fraction(x: float, a: float, b: float) -> float:
    # The continued fraction of the incomplete beta function, by Lentz's method.
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 + term * d
            c = 1.0 + term / c
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return value
