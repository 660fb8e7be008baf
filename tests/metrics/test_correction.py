"""Rates corrected for the classifier's errors."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pytest_refusal.metrics import correction
from pytest_refusal.metrics.correction import (
    ClassifierAudit,
    Stratum,
    WeightedStratum,
    audited_rate,
    prediction_powered_rate,
    reweighted_rate,
    rogan_gladen,
    rogan_gladen_rate,
)
from pytest_refusal.metrics.intervals import clopper_pearson_interval


def stratum(run, audited, true):
    return Stratum(run=run, audited=audited, true=true)


def audit(refusals_found, refusals, answers_found, answers):
    return ClassifierAudit(
        refusals_found=refusals_found,
        refusals=refusals,
        answers_found=answers_found,
        answers=answers,
    )


@pytest.mark.parametrize(
    ("strata", "rate", "lower", "upper"),
    [
        ([(880, 60, 2), (120, 40, 36)], 0.13733333333333334, 0.1090936754618, 0.2073027690654),
        ([(450, 40, 0), (50, 40, 40)], 0.1, 0.09606016884257217, 0.17568168512655802),
        ([(40, 40, 3), (15, 15, 14)], 17 / 55, 17 / 55, 17 / 55),
    ],
    ids=["some errors", "no error found", "everything was read"],
)
def test_known_audited_rates(strata, rate, lower, upper):
    found = audited_rate([stratum(*s) for s in strata])
    assert found.rate == pytest.approx(rate, abs=1e-12)
    assert (found.interval.lower, found.interval.upper) == pytest.approx((lower, upper), abs=1e-8)
    assert found.interval.method == "square-and-add"


def test_stratum_that_nobody_read_leaves_no_estimate():
    assert audited_rate([stratum(100, 20, 3), stratum(10, 0, 0)]) is None
    assert audited_rate([]) is None
    assert audited_rate([stratum(100, 20, 3), stratum(0, 0, 0)]) is not None


def test_few_audited_are_said_to_be_too_few_unless_they_are_all():
    assert not audited_rate([stratum(100, 9, 3), stratum(50, 20, 10)]).enough
    assert audited_rate([stratum(100, 10, 3), stratum(5, 5, 5)]).enough


@pytest.mark.parametrize("counts", [(10, 11, 0), (10, 5, 6), (10, 5, -1)])
def test_impossible_stratum_is_refused(counts):
    with pytest.raises(ValueError, match="not a stratum"):
        stratum(*counts)


@pytest.mark.parametrize(
    ("observed", "sensitivity", "specificity", "rate"),
    [
        (0.12, 0.95, 0.98, 0.10752688172043011),
        (0.01, 0.9, 0.95, 0.0),
        (0.3, 0.4, 0.6, None),
        (0.25, 1.0, 1.0, 0.25),
    ],
)
def test_known_corrections_by_sensitivity_and_specificity(observed, sensitivity, specificity, rate):
    found = rogan_gladen_rate(observed, sensitivity, specificity)
    assert found == (rate if rate is None else pytest.approx(rate, abs=1e-12))


@pytest.mark.parametrize(
    ("refusals", "n", "found", "rate", "lower", "upper"),
    [
        (120, 1000, (57, 60, 98, 100), 0.10752688172043, 0.0603945116818393, 0.140429332705938),
        (5, 55, (25, 25, 30, 30), 1 / 11, 0.0, 0.19335123252345385),
        (0, 25, (40, 44, 70, 75), 0.0, 0.0, 0.1130681380023906),
    ],
)
def test_known_intervals_by_an_audit_elsewhere(refusals, n, found, rate, lower, upper):
    corrected = rogan_gladen(refusals, n, audit(*found))
    assert corrected.rate == pytest.approx(rate, abs=1e-12)
    assert (corrected.interval.lower, corrected.interval.upper) == pytest.approx(
        (lower, upper), abs=1e-9
    )


def test_classifier_no_better_than_a_coin_corrects_nothing():
    assert rogan_gladen(30, 100, audit(20, 50, 30, 50)) is None
    assert rogan_gladen(30, 100, audit(0, 0, 30, 50)) is None
    assert rogan_gladen(0, 0, audit(20, 20, 30, 30)) is None


def test_known_prediction_powered_rate():
    human = [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0]
    judged = [1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0]
    found = prediction_powered_rate(human, judged, [1] * 44 + [0] * 156)
    assert found.rate == pytest.approx(0.22)
    assert found.interval.holds(0.22)
    assert prediction_powered_rate([1], [1], [1, 0]) is None
    with pytest.raises(ValueError, match="2 human labels for 1 verdicts"):
        prediction_powered_rate([1, 0], [1], [1, 0])


def test_macro_average_over_categories():
    strata = [WeightedStratum(weight=1, n=4, successes=k) for k in (0, 1, 0, 2, 0, 1)]
    found = reweighted_rate(strata)
    assert found.rate == pytest.approx(1 / 6)
    assert found.standard_error == pytest.approx(0.07607257743127308, abs=1e-9)
    assert reweighted_rate([]) is None
    assert reweighted_rate([WeightedStratum(weight=1, n=0, successes=0)]) is None


counts = st.integers(0, 40)


@given(counts, counts)
def test_perfect_classifier_changes_nothing(refusals, answers):
    n = refusals + answers
    if not n:
        return
    by_verdict = [stratum(refusals, min(refusals, 10), min(refusals, 10))]
    by_verdict.append(stratum(answers, min(answers, 10), 0))
    assert audited_rate(by_verdict).rate == pytest.approx(refusals / n)
    assert rogan_gladen_rate(refusals / n, 1.0, 1.0) == pytest.approx(refusals / n)
    judged = [True] * refusals + [False] * answers
    powered = prediction_powered_rate([True, False], [True, False], judged)
    assert powered is None or powered.rate == pytest.approx(refusals / n)


def strata_strategy():
    def one(run):
        return st.integers(1, run).flatmap(
            lambda audited: st.builds(
                stratum, st.just(run), st.just(audited), st.integers(0, audited)
            )
        )

    return st.lists(st.integers(1, 60).flatmap(one), min_size=1, max_size=4)


@given(strata_strategy())
@hypothesis_settings(max_examples=40)
def test_audited_interval_holds_the_rate_and_order_changes_nothing(strata):
    found = audited_rate(strata)
    assert 0.0 <= found.interval.lower <= found.rate <= found.interval.upper <= 1.0
    assert audited_rate(strata[::-1]) == found


@pytest.fixture
def quick_limits(monkeypatch):
    """Compute each Clopper-Pearson interval of a simulation once."""
    monkeypatch.setattr(
        correction, "clopper_pearson_interval", lru_cache(maxsize=None)(clopper_pearson_interval)
    )


@pytest.mark.usefixtures("quick_limits")
@pytest.mark.parametrize("audited", [10, 30])
@pytest.mark.parametrize("rate", [0.05, 0.3, 0.9])
@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.98, 0.99), (0.8, 0.95), (0.95, 0.85)])
def test_audited_intervals_cover_the_rate_of_the_run(audited, rate, sensitivity, specificity):
    rng = np.random.default_rng(0)
    runs, prompts, covered = 600, 300, 0
    for truly in rng.binomial(prompts, rate, runs):
        found = rng.binomial(truly, sensitivity)
        false_alarms = rng.binomial(prompts - truly, 1 - specificity)
        strata = []
        for true, size in [
            (found, found + false_alarms),
            (truly - found, prompts - found - false_alarms),
        ]:
            read = min(audited, size)
            hits = rng.hypergeometric(true, size - true, read) if read else 0
            strata.append(stratum(int(size), int(read), int(hits)))
        covered += audited_rate(strata).interval.holds(truly / prompts)
    assert covered / runs >= 0.93


@pytest.mark.parametrize(("refusals", "answers"), [(50, 50), (30, 120)])
@pytest.mark.parametrize("rate", [0.05, 0.3, 0.9])
@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.98, 0.99), (0.8, 0.95), (0.95, 0.85)])
def test_intervals_by_an_audit_elsewhere_cover_the_rate(
    refusals, answers, rate, sensitivity, specificity
):
    rng = np.random.default_rng(0)
    runs, prompts, covered = 600, 300, 0
    observed = rate * sensitivity + (1 - rate) * (1 - specificity)
    for _ in range(runs):
        found = audit(
            int(rng.binomial(refusals, sensitivity)),
            refusals,
            int(rng.binomial(answers, specificity)),
            answers,
        )
        corrected = rogan_gladen(int(rng.binomial(prompts, observed)), prompts, found)
        covered += corrected.interval.holds(rate)
    assert covered / runs >= 0.93
