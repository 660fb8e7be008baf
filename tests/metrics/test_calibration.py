"""The expected calibration error, as the product defines it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_refusal.metrics.calibration import calibration_bins, expected_calibration_error

TENTHS = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


# The values are from independent libraries and exact rational arithmetic.
@pytest.mark.parametrize(
    ("confidence", "correct", "bins", "expected"),
    [
        pytest.param(
            [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
            [0, 0, 1, 0, 1, 1, 0, 1, 1],
            10,
            0.3222222222222222,
            id="0.3, 0.6 and 0.7 fall one bin lower",
        ),
        pytest.param([0.3, 0.3, 0.3, 0.25], [1, 0, 1, 1], 10, 0.4625, id="0.3 shares with 0.25"),
        pytest.param([0.6, 0.55, 0.7, 0.65], [1, 1, 0, 0], 10, 0.55, id="0.6 shares with 0.55"),
        pytest.param([0.1 + 0.2, 0.25], [1, 0], 10, 0.475, id="0.1 + 0.2 is the edge itself"),
        pytest.param([0.0, 1.0, 1.0, 0.0], [0, 1, 0, 1], 10, 0.5, id="both ends"),
        pytest.param([0.95, 1.0, 0.9], [1, 0, 1], 10, 0.2833333333333333, id="1.0 in the last"),
        pytest.param([0.9] * 10, [1] * 7 + [0] * 3, 10, 0.2, id="one value"),
        pytest.param([0.2, 0.9, 0.7, 0.4], [0, 1, 1, 1], 1, 0.2, id="one bin"),
        pytest.param([0.75], [1], 10, 0.25, id="one outcome"),
        pytest.param([1.0] * 5, [1] * 5, 10, 0.0, id="sure and right"),
        pytest.param([1.0] * 4, [0] * 4, 10, 1.0, id="sure and wrong"),
        pytest.param([0.0] * 4, [0] * 4, 10, 0.0, id="always wrong and says so"),
        pytest.param([0.6, 0.5, 0.8], [1, 0, 1], 5, 0.1, id="five bins: 0.6 falls one lower"),
        pytest.param(
            TENTHS, [0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1], 10, 0.24545454545454548, id="tenths"
        ),
        pytest.param(
            [0.35, 0.41, 0.47, 0.57, 0.69, 0.7, 0.82, 0.83, 0.94, 0.95, 0.36],
            [1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0],
            100,
            0.4081818181818182,
            id="a hundred bins",
        ),
    ],
)
def test_known_values(confidence, correct, bins, expected):
    assert expected_calibration_error(confidence, correct, bins) == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize(
    ("bins", "places"),
    [
        (10, [0, 1, 2, 2, 4, 5, 5, 6, 8, 9, 9]),
        (5, [0, 0, 1, 1, 2, 2, 2, 3, 4, 4, 4]),
        (1, [0] * 11),
    ],
)
def test_bin_of_every_tenth(bins, places):
    assert [calibration_bins([c], [True], bins)[0].index for c in TENTHS] == places


def test_table_of_bins_leaves_out_the_empty_ones():
    first, last = calibration_bins([0.25, 0.3, 0.95, 1.0], [True, False, True, True])
    assert (first.index, first.count, first.mean_confidence, first.accuracy) == (2, 2, 0.275, 0.5)
    assert (last.index, last.count, last.mean_confidence, last.accuracy) == (9, 2, 0.975, 1.0)
    assert (last.lower, last.upper) == (0.9, 1.0)
    assert first.gap == pytest.approx(-0.225)


def test_no_outcomes_have_no_error():
    assert expected_calibration_error([], []) == 0.0
    assert calibration_bins([], []) == ()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1.0000001, -0.1])
def test_confidence_that_is_none_is_refused_and_named(bad):
    with pytest.raises(ValueError, match=r"confidence\[1\].*must lie in \[0, 1\]"):
        expected_calibration_error([0.5, bad, 0.5], [True, False, True])


@pytest.mark.parametrize("bad", [math.nan, 2, -1, 0.5])
def test_correct_that_is_neither_true_nor_false_is_refused_and_named(bad):
    with pytest.raises(ValueError, match=r"correct\[0\]"):
        expected_calibration_error([0.5], [bad])


@pytest.mark.parametrize(
    ("confidence", "correct"), [([0.5, 0.6], [1]), ([], [1]), (0.5, 1), ([[0.5]], [[1]])]
)
def test_unequal_lengths_are_refused(confidence, correct):
    with pytest.raises(ValueError, match="same length"):
        expected_calibration_error(confidence, correct)


@pytest.mark.parametrize("bins", [0, -1, 2.5])
@pytest.mark.parametrize("confidence", [[], [0.5]])
def test_bins_must_be_one_or_more(bins, confidence):
    with pytest.raises(ValueError, match="bins must be"):
        expected_calibration_error(confidence, [1] * len(confidence), bins)


outcomes = st.lists(
    st.tuples(st.sampled_from(TENTHS) | st.floats(0, 1), st.booleans()), min_size=1, max_size=40
)


@given(outcomes, st.integers(1, 30), st.randoms(use_true_random=False))
def test_order_changes_no_digit(pairs, bins, random):
    shuffled = random.sample(pairs, len(pairs))
    assert expected_calibration_error(*zip(*pairs, strict=True), bins) == (
        expected_calibration_error(*zip(*shuffled, strict=True), bins)
    )


@given(outcomes, st.integers(1, 30))
def test_agrees_with_the_definition_written_with_numpy(pairs, bins):
    confidence, correct = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    place = np.digitize(confidence, np.linspace(0, 1, bins + 1)) - 1
    place[confidence == 1.0] = bins - 1
    error = sum(
        np.mean(place == i) * abs(confidence[place == i].mean() - correct[place == i].mean())
        for i in np.unique(place)
    )
    assert expected_calibration_error(confidence, correct, bins) == pytest.approx(error, abs=1e-12)


@given(outcomes, st.integers(1, 30))
def test_bins_hold_every_outcome_and_weigh_up_to_the_error(pairs, bins):
    confidence, correct = zip(*pairs, strict=True)
    table = calibration_bins(confidence, correct, bins)
    assert len(table) <= bins
    assert sum(b.count for b in table) == len(pairs)
    assert all(b.lower <= b.mean_confidence <= b.upper for b in table)
    weighed = sum(b.count * abs(b.gap) for b in table) / len(pairs)
    assert weighed == pytest.approx(expected_calibration_error(confidence, correct, bins))
