"""Two runs over the same prompts."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pytest_refusal.metrics.paired import (
    bonett_price_interval,
    mcnemar_exact_p_value,
    mcnemar_midp_p_value,
    paired_mean_difference,
    sign_flip_p_value,
)


@pytest.mark.parametrize(
    ("first", "second", "exact", "midp"),
    [
        (1, 7, 0.0703125, 0.0390625),
        (0, 6, 0.03125, 0.015625),
        (5, 5, 1.0, 1.0),
        (0, 0, 1.0, 1.0),
    ],
)
def test_known_mcnemar_p_values(first, second, exact, midp):
    assert mcnemar_exact_p_value(first, second) == exact
    assert mcnemar_midp_p_value(first, second) == midp


def test_many_discordant_prompts_do_not_overflow():
    assert mcnemar_exact_p_value(40, 61) == pytest.approx(0.046044066929342785, abs=1e-12)
    assert mcnemar_midp_p_value(5_000, 5_000) == 1.0
    assert 0.0 <= mcnemar_exact_p_value(0, 5_000) < 1e-300


@pytest.mark.parametrize(
    ("first", "second", "n", "lower", "upper"),
    [
        (8, 2, 21, -0.01440238381621961, 0.5361415142510022),
        (1, 7, 21, -0.5083593066664394, -0.013379823768343235),
        (0, 0, 25, -0.10265954254442057, 0.10265954254442057),
        (40, 61, 1000, -0.040767383505666416, -0.0011487841590042368),
    ],
)
def test_known_intervals_of_a_difference(first, second, n, lower, upper):
    interval = bonett_price_interval(first, second, n)
    assert (interval.lower, interval.upper) == pytest.approx((lower, upper), abs=1e-12)


def test_no_prompts_have_no_difference():
    assert bonett_price_interval(0, 0, 0) is None
    assert paired_mean_difference([], []) is None


@pytest.mark.parametrize("table", [(3, 3, 5), (-1, 0, 5)])
def test_impossible_table_is_refused(table):
    with pytest.raises(ValueError, match="not a paired table"):
        bonett_price_interval(*table)


def test_known_difference_of_samples():
    first = [[1, 1, 1], [0, 1, 1], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    second = [[1, 1, 1], [0, 0, 1], [0, 0, 0], [1, 0, 0], [1, 0, 1]]
    found = paired_mean_difference(first, second)
    assert (found.difference, found.prompts) == (pytest.approx(0.2), 5)
    assert found.standard_error == pytest.approx(0.0816496580927726, abs=1e-12)
    assert (found.interval.lower, found.interval.upper) == pytest.approx(
        (-0.026695793552751867, 0.4266957935527519), abs=1e-9
    )


def test_one_prompt_has_a_difference_and_no_interval():
    found = paired_mean_difference([[1, 0]], [[0, 0]])
    assert (found.difference, found.interval, found.standard_error) == (0.5, None, None)


def test_sign_flips_of_single_samples_come_near_the_exact_test():
    differences = [Fraction(1)] * 7 + [Fraction(-1)] + [Fraction(0)] * 20
    assert sign_flip_p_value(differences) == pytest.approx(0.0703125, abs=0.01)
    assert sign_flip_p_value([Fraction(0)] * 5) == 1.0
    assert sign_flip_p_value([]) == 1.0


def test_sign_flips_are_seeded_and_blind_to_order():
    differences = [Fraction(1, 3), Fraction(-1, 5), Fraction(2, 3), Fraction(1, 2), Fraction(0)]
    assert sign_flip_p_value(differences) == sign_flip_p_value(differences[::-1])


counts = st.integers(0, 60)


@given(counts, counts)
def test_swapping_the_runs_turns_the_difference_around(first, second):
    assert mcnemar_midp_p_value(first, second) == mcnemar_midp_p_value(second, first)
    n = first + second + 10
    there, back = bonett_price_interval(first, second, n), bonett_price_interval(second, first, n)
    assert (there.lower, there.upper) == pytest.approx((-back.upper, -back.lower))


@given(counts, counts)
def test_midp_is_a_chance_and_below_the_exact_one(first, second):
    assert 0.0 <= mcnemar_midp_p_value(first, second) <= mcnemar_exact_p_value(first, second) <= 1.0


samples = st.lists(
    st.tuples(st.lists(st.booleans(), min_size=1, max_size=4), st.lists(st.booleans(), min_size=1)),
    min_size=2,
    max_size=12,
)


@given(samples)
@hypothesis_settings(max_examples=40)
def test_difference_of_samples_lies_in_its_interval(pairs):
    found = paired_mean_difference(*zip(*pairs, strict=True))
    assert found.interval.lower <= found.difference <= found.interval.upper
    itself = paired_mean_difference([a for a, _ in pairs], [a for a, _ in pairs])
    assert (itself.difference, itself.standard_error) == (0.0, 0.0)
