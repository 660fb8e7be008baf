"""A rate is the integers it was counted in."""

from __future__ import annotations

import pytest

from pytest_refusal.metrics.rates import Rate


def test_rate_and_worst_case_of_fifteen_refused_two_answered_three_failed():
    rate = Rate(2, 17, 3)
    assert rate.value == 2 / 17
    assert rate.worst_case == 0.25


def test_worst_case_of_accuracy_is_downward():
    assert Rate(15, 17, 3, higher_is_better=True).worst_case == 0.75


@pytest.mark.parametrize(
    ("numerator", "denominator", "ceiling"), [(3, 20, 0.15), (1, 10, 0.1), (7, 100, 0.07)]
)
def test_rate_exactly_at_a_decimal_equals_it(numerator, denominator, ceiling):
    assert Rate(numerator, denominator).value == ceiling


def test_no_denominator_is_no_rate():
    assert Rate(0, 0).value is None
    assert Rate(0, 0).worst_case is None


def test_only_unevaluated_has_a_worst_case_but_no_value():
    rate = Rate(0, 0, 4)
    assert rate.value is None
    assert rate.worst_case == 1.0


@pytest.mark.parametrize("counts", [(3, 2, 0), (-1, 2, 0), (0, 2, -1)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ValueError, match="not a rate"):
        Rate(*counts)
