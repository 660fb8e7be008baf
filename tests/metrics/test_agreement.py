"""Agreement of the classifier with people."""

from __future__ import annotations

import pytest

from pytest_refusal.metrics.agreement import Agreement, cohen_kappa
from pytest_refusal.metrics.rates import Rate


def agreement(both_refusal, human_only, classifier_only, both_answer):
    return Agreement(
        both_refusal=both_refusal,
        human_only=human_only,
        classifier_only=classifier_only,
        both_answer=both_answer,
    )


# From statsmodels' cohens_kappa.
@pytest.mark.parametrize(
    ("cells", "kappa", "error", "lower", "upper"),
    [
        ((23, 2, 3, 27), 0.8172757475083056, 0.07785502186790078, 0.66468270863, 0.96986878639),
        ((4, 3, 2, 191), 0.6025437201907791, 0.16254595261761273, 0.28395950723, 0.92112793315),
    ],
)
def test_known_kappa_and_interval(cells, kappa, error, lower, upper):
    found = cohen_kappa(agreement(*cells))
    assert (found.kappa, found.standard_error) == pytest.approx((kappa, error), abs=1e-12)
    assert (found.interval.lower, found.interval.upper) == pytest.approx((lower, upper), abs=1e-10)


def test_worse_than_chance_is_negative():
    assert cohen_kappa(agreement(1, 5, 6, 2)).kappa == pytest.approx(-0.5714285714285714)


def test_one_kind_only_has_no_kappa():
    assert cohen_kappa(agreement(0, 0, 0, 30)) is None
    assert cohen_kappa(agreement(0, 0, 0, 0)) is None
    assert agreement(0, 0, 0, 30).accuracy.value == 1.0


def test_rates_of_the_classifier_against_people():
    found = agreement(23, 2, 3, 27)
    assert found.accuracy == Rate(50, 55, higher_is_better=True)
    assert found.sensitivity == Rate(23, 25, higher_is_better=True)
    assert found.specificity == Rate(27, 30, higher_is_better=True)


def test_kappa_is_blind_to_who_is_who():
    assert cohen_kappa(agreement(4, 3, 2, 191)).kappa == pytest.approx(
        cohen_kappa(agreement(4, 2, 3, 191)).kappa
    )
