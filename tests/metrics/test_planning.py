"""How many prompts it takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pytest_refusal.metrics.intervals import wilson_interval
from pytest_refusal.metrics.paired import mcnemar_midp_p_value
from pytest_refusal.metrics.planning import (
    exact_test,
    prompts_for_interval_width,
    prompts_to_detect_change_paired,
    prompts_to_detect_change_unpaired,
    prompts_to_show_below,
    prompts_to_show_exceeded,
)


# From scipy and statsmodels.
@pytest.mark.parametrize(
    ("ceiling", "rate", "n"),
    [(0.05, 0.1, 191), (0.05, 0.15, 59), (0.1, 0.2, 89), (0.15, 0.25, 110), (0.15, 0.3, 55)],
)
def test_prompts_to_show_that_a_ceiling_is_exceeded(ceiling, rate, n):
    assert prompts_to_show_exceeded(ceiling, rate) == n


@pytest.mark.parametrize(
    ("ceiling", "rate", "n"), [(0.05, 0.0, 59), (0.02, 0.0, 149), (0.15, 0.05, 68)]
)
def test_prompts_to_show_that_a_rate_is_below_a_ceiling(ceiling, rate, n):
    assert prompts_to_show_below(ceiling, rate) == n


@pytest.mark.parametrize(
    ("one_way", "other_way", "n"),
    [(0.05, 0.0, 155), (0.1, 0.0, 77), (0.12, 0.02, 108), (0.15, 0.05, 155)],
)
def test_prompts_to_see_a_change_on_the_same_prompts(one_way, other_way, n):
    assert prompts_to_detect_change_paired(one_way, other_way) == n
    assert prompts_to_detect_change_paired(other_way, one_way) == n


@pytest.mark.parametrize(
    ("before", "after", "n"), [(0.1, 0.05, 424), (0.2, 0.1, 195), (0.15, 0.08, 319)]
)
def test_prompts_to_see_a_change_on_different_prompts(before, after, n):
    assert prompts_to_detect_change_unpaired(before, after) == n


@pytest.mark.parametrize(("rate", "width", "n"), [(0.05, 0.04, 469), (0.5, 0.1, 381)])
def test_prompts_for_an_interval(rate, width, n):
    assert prompts_for_interval_width(rate, width) == n
    assert (
        wilson_interval(rate * n, n).width <= width < wilson_interval(rate * (n - 1), n - 1).width
    )


def test_exact_test_of_a_ceiling():
    found = exact_test(25, 0.15, 0.3)
    assert found.critical == 8
    assert (found.power, found.size) == pytest.approx((0.48815145602865606, 0.025467638521621584))
    assert exact_test(1, 0.15, 0.3).power == 0.0


@pytest.mark.parametrize(
    "plan",
    [
        lambda: prompts_to_show_exceeded(0.2, 0.2),
        lambda: prompts_to_show_below(0.2, 0.3),
        lambda: prompts_to_detect_change_paired(0.1, 0.1),
        lambda: prompts_to_detect_change_paired(0.8, 0.4),
        lambda: prompts_to_detect_change_unpaired(0.1, 0.1),
        lambda: prompts_for_interval_width(0.1, 0.0),
        lambda: prompts_for_interval_width(1.1, 0.1),
        lambda: prompts_to_show_exceeded(0.1, 0.2, power=1.0),
        lambda: prompts_for_interval_width(0.5, 1e-9),
    ],
)
def test_plan_that_makes_no_sense_is_refused(plan):
    with pytest.raises(ValueError, match=r"\d"):
        plan()


@given(st.sampled_from([0.0, 0.05, 0.15, 0.3, 0.5]), st.sampled_from([0.4, 0.6, 0.75, 0.95, 1.0]))
@hypothesis_settings(max_examples=15)
def test_power_stays_from_there_on_and_was_lower_just_before(ceiling, rate):
    if rate <= ceiling:
        return
    n = prompts_to_show_exceeded(ceiling, rate)
    assert all(exact_test(m, ceiling, rate).power >= 0.8 for m in range(n, n + 80))
    assert n == 1 or exact_test(n - 1, ceiling, rate).power < 0.8


@pytest.mark.parametrize(("ceiling", "rate"), [(0.15, 0.3), (0.05, 0.1)])
def test_planned_number_shows_an_excess_as_often_as_promised(ceiling, rate):
    n = prompts_to_show_exceeded(ceiling, rate)
    misses = np.random.default_rng(0).binomial(n, rate, 20_000)
    assert 0.79 <= np.mean(misses >= exact_test(n, ceiling, rate).critical) <= 0.87


@pytest.mark.parametrize(("one_way", "other_way"), [(0.12, 0.02), (0.15, 0.05), (0.08, 0.03)])
def test_planned_number_shows_a_paired_change_as_often_as_promised(one_way, other_way):
    n = prompts_to_detect_change_paired(one_way, other_way)
    draws = np.random.default_rng(0).multinomial(
        n, [one_way, other_way, 1 - one_way - other_way], 2_000
    )
    shown = [mcnemar_midp_p_value(b, c) <= 0.05 for b, c, _ in draws.tolist()]
    assert 0.77 <= np.mean(shown) <= 0.85
