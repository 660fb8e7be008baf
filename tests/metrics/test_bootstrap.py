"""Resampling of prompts."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pytest_refusal.metrics.bootstrap import mean_interval, percentile_interval, resampled_sums
from pytest_refusal.metrics.calibration import expected_calibration_error
from pytest_refusal.metrics.calibration_bootstrap import (
    calibration_intervals,
    ece_difference_interval,
)

FEW_VALUES = [[(0.9, i % 10 > 0)] for i in range(40)] + [[(0.6, i % 2 > 0)] for i in range(20)]


def prompts(n, seed=1):
    rng = random.Random(seed)
    return [[(rng.random(), rng.random() < 0.8)] for _ in range(n)]


def ends(interval):
    return interval.lower, interval.upper


def test_each_resample_is_as_large_as_the_data():
    for rows in (np.ones((50, 1)), np.column_stack([np.arange(500.0), np.ones(500)])):
        assert np.all(resampled_sums(rows, 30)[:, -1] == len(rows))


@pytest.mark.parametrize("distinct", [3, 400])
def test_sums_scatter_as_they_should(distinct):
    values = np.arange(400) % distinct
    sums = resampled_sums(values[:, None].astype(float), 4_000)[:, 0]
    assert sums.mean() == pytest.approx(values.sum(), rel=0.01)
    assert sums.std() == pytest.approx(np.sqrt(400) * values.std(), rel=0.05)


def test_interval_of_a_mean_is_near_that_of_scipy():
    # scipy's bootstrap, mean of 20 seeds, is (0.04, 0.32).
    found = mean_interval([1] * 4 + [0] * 21, resamples=9_999)
    assert ends(found) == pytest.approx((0.04, 0.32), abs=0.02)
    assert found.method == "bootstrap-percentile"
    assert mean_interval([]) is None


def test_percentiles_are_those_of_the_level():
    found = percentile_interval(np.arange(101.0), 0.9)
    assert ends(found) == pytest.approx((5.0, 95.0))


@pytest.mark.parametrize("by_prompt", [FEW_VALUES, prompts(60)], ids=["few values", "many"])
def test_seeded_and_blind_to_order(by_prompt):
    shuffled = random.Random(2).sample(by_prompt, len(by_prompt))
    first = calibration_intervals(by_prompt, resamples=200)
    assert calibration_intervals(shuffled, resamples=200) == first
    assert calibration_intervals(by_prompt, resamples=200, seed=1) != first


def test_resampled_errors_agree_with_the_plain_way():
    by_prompt = [[(0.9, True), (0.9, False)], [(0.3, True)], [(0.75, True), (0.2, False)]] * 8
    rng = np.random.default_rng(5)
    plain = []
    for _ in range(1_500):
        chosen = [by_prompt[i] for i in rng.integers(0, len(by_prompt), len(by_prompt))]
        flat = [pair for samples in chosen for pair in samples]
        plain.append(expected_calibration_error(*zip(*flat, strict=True)))
    found = calibration_intervals(by_prompt)
    assert ends(found.ece) == pytest.approx(tuple(np.quantile(plain, [0.025, 0.975])), abs=0.02)


def test_samples_of_a_prompt_are_drawn_together():
    # The same answer five times is no more certain than once.
    alone = calibration_intervals(FEW_VALUES, resamples=500)
    five_times = calibration_intervals([samples * 5 for samples in FEW_VALUES], resamples=500)
    assert ends(five_times.ece) == pytest.approx(ends(alone.ece))
    assert ends(five_times.brier) == pytest.approx(ends(alone.brier))


def test_no_outcomes_have_no_interval():
    assert calibration_intervals([[], []]) is None
    assert ece_difference_interval([], []) is None


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1.5, -0.1])
def test_confidence_that_is_none_is_refused(bad):
    for interval in (
        lambda: calibration_intervals([[(0.5, True)], [(bad, True)]]),
        lambda: ece_difference_interval([[(0.5, True)]], [[(bad, True)]]),
    ):
        with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
            interval()


def test_run_against_itself_has_no_difference_of_errors():
    assert ends(ece_difference_interval(FEW_VALUES, FEW_VALUES, resamples=100)) == (0.0, 0.0)


def test_paired_difference_needs_the_same_prompts():
    with pytest.raises(ValueError, match="same prompts"):
        ece_difference_interval(FEW_VALUES, FEW_VALUES[1:])
    with pytest.raises(ValueError, match="same prompts"):
        ece_difference_interval([[(0.5, True)]], [[]])


def test_difference_of_errors_lies_in_its_interval():
    worse = [[(0.9, i % 2 > 0)] for i in range(60)]
    better = [[(0.9, i % 10 > 0)] for i in range(60)]
    found = ece_difference_interval(worse, better)
    assert found.lower < 0.4 < found.upper
    assert found.lower > 0.2
