"""The calibration error without bins."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pytest_refusal.metrics.calibration import count_confidences
from pytest_refusal.metrics.smooth_calibration import smooth_calibration_error


def test_no_outcomes_have_no_error():
    assert smooth_calibration_error(Counter()) is None


@pytest.mark.parametrize(
    ("stated", "correct", "error"),
    [
        ([0.9] * 10, [1] * 9 + [0], 0.0),
        ([0.9] * 10, [1] * 7 + [0] * 3, 0.2),
        ([0.5] * 8, [1] * 8, 0.5),
    ],
)
def test_one_value_has_the_gap_of_its_bin(stated, correct, error):
    found = smooth_calibration_error(count_confidences(stated, correct))
    assert found == pytest.approx(error, abs=0.002)


def test_neighbours_on_both_sides_of_an_edge_are_seen_together():
    # 0.49 always right, 0.51 always wrong: any bins that part them call it half wrong.
    found = smooth_calibration_error(count_confidences([0.49, 0.51] * 20, [1, 0] * 20))
    assert found < 0.15


outcomes = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30)


@given(outcomes, st.randoms(use_true_random=False))
@hypothesis_settings(max_examples=25)
def test_error_lies_between_0_and_1_and_order_changes_no_digit(pairs, random):
    found = smooth_calibration_error(Counter(pairs))
    assert 0.0 <= found <= 1.0
    assert smooth_calibration_error(Counter(random.sample(pairs, len(pairs)))) == found
