"""Intervals of a rate, against independent libraries and by their properties."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_refusal.metrics.intervals import (
    IntervalMethod,
    clopper_pearson_interval,
    clopper_pearson_lower_bound,
    clopper_pearson_upper_bound,
    is_too_few,
    jeffreys_interval,
    rate_interval,
    wilson_interval,
)
from pytest_refusal.metrics.rates import Rate

OF_COUNTS = [wilson_interval, clopper_pearson_interval, jeffreys_interval]


# From scipy's binomtest and statsmodels' proportion_confint.
@pytest.mark.parametrize(
    ("interval", "successes", "n", "level", "lower", "upper"),
    [
        (wilson_interval, 0, 3, 0.95, 0.0, 0.5614970317550454),
        (wilson_interval, 4, 25, 0.95, 0.0640345145667644, 0.3465362160717886),
        (wilson_interval, 50, 1000, 0.99, 0.035025075722532446, 0.0709069726905337),
        (wilson_interval, 1, 1, 0.95, 0.20654931437723745, 1.0),
        (clopper_pearson_interval, 0, 30, 0.95, 0.0, 0.11570330822202743),
        (clopper_pearson_interval, 2, 6, 0.95, 0.043271868292889565, 0.7772219044964505),
        (clopper_pearson_interval, 50, 1000, 0.9, 0.039163535925589334, 0.0628634035123829),
        (jeffreys_interval, 0, 6, 0.95, 0.0, 0.33038890915155006),
        (jeffreys_interval, 4, 25, 0.95, 0.056520465199112184, 0.3368527688734461),
        (jeffreys_interval, 30, 30, 0.95, 0.92032182618274, 1.0),
    ],
)
def test_known_intervals(interval, successes, n, level, lower, upper):
    found = interval(successes, n, level)
    assert (found.lower, found.upper) == pytest.approx((lower, upper), abs=1e-11)


def test_known_bounds():
    assert clopper_pearson_upper_bound(0, 59) == pytest.approx(0.04950760988846832, abs=1e-11)
    assert clopper_pearson_upper_bound(3, 100) == pytest.approx(0.07571079374983007, abs=1e-11)
    assert clopper_pearson_upper_bound(6, 6) == 1.0
    assert clopper_pearson_lower_bound(4, 25) == pytest.approx(0.05656255902005445, abs=1e-11)
    assert clopper_pearson_lower_bound(0, 25) == 0.0


@pytest.mark.parametrize("interval", OF_COUNTS)
def test_no_prompts_have_no_interval(interval):
    assert interval(0, 0) is None


@pytest.mark.parametrize("interval", OF_COUNTS)
@pytest.mark.parametrize(
    ("successes", "n", "level"),
    [(4, 3, 0.95), (-1, 3, 0.95), (math.nan, 3, 0.95), (1, math.inf, 0.95)]
    + [(1, 3, level) for level in (0.0, 1.0, 1.5, math.nan)],
)
def test_impossible_counts_and_levels_are_refused(interval, successes, n, level):
    with pytest.raises(ValueError, match=r"not a rate|level"):
        interval(successes, n, level)


@pytest.mark.parametrize("interval", OF_COUNTS)
def test_nothing_and_everything_are_exact_ends_and_never_of_width_zero(interval):
    for n in (1, 3, 25, 10_000):
        none, every = interval(0, n), interval(n, n)
        assert none.lower == 0.0 < none.upper
        assert every.lower < 1.0 == every.upper


def test_rate_is_given_its_interval_by_the_name_of_the_method():
    rate = Rate(4, 25, 2)
    assert rate_interval(rate) == wilson_interval(4, 25)
    assert rate_interval(rate, IntervalMethod.JEFFREYS, 0.9) == jeffreys_interval(4, 25, 0.9)
    assert rate_interval(Rate(0, 0, 3)) is None
    with pytest.raises(ValueError, match="choose one of: wilson, clopper-pearson, jeffreys"):
        rate_interval(rate, IntervalMethod.BONETT_PRICE)


def test_interval_says_how_it_was_made():
    interval = wilson_interval(4, 25, 0.9)
    assert (interval.method, interval.confidence_level) == ("wilson", 0.9)
    assert interval.holds(0.16)
    assert not interval.holds(0.5)


def test_fewer_than_ten_prompts_are_too_few_for_a_percentage():
    assert is_too_few(Rate(3, 9))
    assert not is_too_few(Rate(3, 10))


counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.floats(0.5, 0.999)


@given(st.sampled_from(OF_COUNTS), counts, levels)
def test_interval_holds_the_estimate_and_stays_in_range(interval, count, level):
    k, n = count
    found = interval(k, n, level)
    assert 0.0 <= found.lower <= k / n <= found.upper <= 1.0


@given(st.sampled_from(OF_COUNTS), counts, levels)
def test_interval_of_the_opposite_is_its_mirror(interval, count, level):
    k, n = count
    found, mirrored = interval(k, n, level), interval(n - k, n, level)
    assert (found.lower, found.upper) == pytest.approx(
        (1 - mirrored.upper, 1 - mirrored.lower), abs=1e-10
    )


@given(st.sampled_from(OF_COUNTS), counts, st.integers(2, 5))
def test_interval_shrinks_with_more_prompts(interval, count, factor):
    k, n = count
    assert interval(k * factor, n * factor).width < interval(k, n).width


@given(st.sampled_from(OF_COUNTS), counts)
def test_interval_grows_with_the_level(interval, count):
    assert interval(*count, 0.9).width < interval(*count, 0.95).width


@pytest.mark.parametrize("n", [1, 3, 25, 55, 400, 10_000])
def test_agrees_with_scipy(n):
    stats = pytest.importorskip("scipy.stats", reason="scipy is only there to check against")
    for k in {0, 1, n // 7, n // 2, n - 1, n}:
        for interval, method in [(wilson_interval, "wilson"), (clopper_pearson_interval, "exact")]:
            expected = stats.binomtest(k, n).proportion_ci(0.95, method)
            found = interval(k, n)
            assert (found.lower, found.upper) == pytest.approx(tuple(expected), abs=1e-11)
