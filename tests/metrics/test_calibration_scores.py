"""The calibration numbers beside the ECE."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_refusal.metrics.calibration import (
    adaptive_calibration_error,
    calibration_error,
    count_confidences,
    maximum_calibration_error,
)
from pytest_refusal.metrics.calibration_chance import chance_level, debiased_squared_error
from pytest_refusal.metrics.proper_scores import brier_score, log_loss

NONE = Counter()


def counts(stated, correct):
    return count_confidences(stated, correct)


def test_known_brier_score_and_its_parts():
    score = brier_score(counts([0.9, 0.9, 0.9, 0.6, 0.6, 0.2], [1, 1, 0, 1, 0, 0]))
    assert score.score == pytest.approx(0.23166666666666666, abs=1e-12)
    assert score.reliability == pytest.approx(0.037222222222222226, abs=1e-12)
    assert score.resolution == pytest.approx(0.05555555555555555, abs=1e-12)
    assert score.uncertainty == 0.25


def test_constant_confidence_says_nothing_about_which_decision_is_right():
    assert brier_score(counts([0.8] * 10, [1] * 7 + [0] * 3)).resolution == 0.0


def test_one_confident_mistake_has_a_finite_log_loss_and_is_counted():
    found = log_loss(counts([1.0, 0.9], [0, 1]))
    assert found.loss == pytest.approx(17.3224, abs=0.01)
    assert found.clipped == 1
    assert log_loss(counts([0.9, 0.8], [1, 0])).clipped == 0


def test_largest_gap_is_that_of_one_outcome():
    found = maximum_calibration_error(counts([0.9] * 9 + [0.2], [1] * 8 + [0] + [1]), 10)
    assert found == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("stated", "correct", "bins", "error", "used"),
    [
        ([0.9, 0.9, 0.9, 0.9, 0.6, 0.9, 0.9, 0.5], [1, 1, 0, 1, 0, 1, 1, 1], 4, 0.0625, 2),
        ([0.1, 0.2, 0.35, 0.45, 0.62, 0.71, 0.84, 0.96], [0, 0, 1, 0, 1, 0, 1, 1], 4, 0.12875, 4),
        ([0.9] * 5, [1] * 5, 10, 0.1, 1),
        ([0.4], [1], 10, 0.6, 1),
    ],
    ids=["heavy ties", "all different", "one value", "one outcome"],
)
def test_known_adaptive_errors(stated, correct, bins, error, used):
    found = adaptive_calibration_error(counts(stated, correct), bins)
    assert (found.error, found.bins) == (pytest.approx(error, abs=1e-12), used)


def test_debiased_error_may_be_negative_and_leaves_out_what_is_alone():
    found = debiased_squared_error(counts([0.5] * 4 + [0.9], [1, 1, 0, 0, 1]), 10)
    assert found.squared == pytest.approx(-0.25 / 3)
    assert found.left_out == 1
    assert debiased_squared_error(counts([0.5, 0.9], [1, 1]), 10) is None


@pytest.mark.parametrize(
    "number",
    [
        brier_score,
        log_loss,
        lambda c: maximum_calibration_error(c, 10),
        lambda c: adaptive_calibration_error(c, 10),
        lambda c: chance_level(c, 10),
        lambda c: debiased_squared_error(c, 10),
    ],
)
def test_no_outcomes_have_no_number(number):
    assert number(NONE) is None


def chance_level_by_trying_everything(stated, bins):
    expected = 0.0
    for correct in product([True, False], repeat=len(stated)):
        chance = math.prod(c if r else 1 - c for c, r in zip(stated, correct, strict=True))
        expected += chance * calibration_error(counts(stated, correct), bins)
    return expected


@given(
    st.lists(st.sampled_from([0.0, 0.3, 0.55, 0.6, 0.9, 1.0]), min_size=1, max_size=7),
    st.integers(1, 12),
)
def test_chance_level_is_the_mean_over_all_that_might_happen(stated, bins):
    found = chance_level(counts(stated, [True] * len(stated)), bins)
    assert found == pytest.approx(chance_level_by_trying_everything(stated, bins), abs=1e-12)


def test_chance_level_of_a_huge_bin_goes_on_smoothly():
    exact = chance_level(Counter({(0.9, True): 2_000}), 10)
    approximate = chance_level(Counter({(0.9, True): 2_001}), 10)
    assert approximate == pytest.approx(exact, rel=1e-3)


outcomes = st.lists(
    st.tuples(st.sampled_from([0.0, 0.3, 0.6, 0.9, 1.0]) | st.floats(0, 1), st.booleans()),
    min_size=1,
    max_size=40,
)


@given(outcomes)
def test_parts_of_the_brier_score_add_up(pairs):
    found = brier_score(Counter(pairs))
    assert found.score == pytest.approx(
        found.reliability - found.resolution + found.uncertainty, abs=1e-12
    )


@given(outcomes, st.integers(1, 20), st.randoms(use_true_random=False))
def test_order_changes_no_digit(pairs, bins, random):
    shuffled = random.sample(pairs, len(pairs))
    for number in (
        lambda c: (brier_score(c), log_loss(c)),
        lambda c: (chance_level(c, bins), debiased_squared_error(c, bins)),
        lambda c: (adaptive_calibration_error(c, bins), maximum_calibration_error(c, bins)),
    ):
        assert number(Counter(shuffled)) == number(Counter(pairs))


@given(outcomes, st.integers(1, 20))
def test_adaptive_error_has_no_more_bins_than_asked_for(pairs, bins):
    found = adaptive_calibration_error(Counter(pairs), bins)
    assert 1 <= found.bins <= bins
    assert 0.0 <= found.error <= 1.0


@given(outcomes, st.integers(1, 20))
def test_swapping_right_and_wrong_mirrors_the_brier_score(pairs, bins):
    mirrored = Counter((1 - c, not r) for c, r in pairs)
    assert brier_score(mirrored).score == pytest.approx(brier_score(Counter(pairs)).score)
