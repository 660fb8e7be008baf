"""What a ceiling decides, under each way of deciding."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_refusal.metrics.decisions import (
    Decide,
    LimitedRate,
    benjamini_hochberg,
    can_decide,
    clean_prompts_needed,
    decide_limits,
    ece_holds,
    exceeds_ceiling_p_value,
    holm,
    more_clean_prompts_for_proven,
    prompts_for_exceeded_to_fail,
    prompts_to_decide,
)
from pytest_refusal.metrics.intervals import clopper_pearson_upper_bound
from pytest_refusal.metrics.rates import Rate


def decision(misses, n, ceiling, decide, level=0.95):
    limited = LimitedRate(
        rate=Rate(misses, n), limit=ceiling, decide=Decide(decide), confidence_level=level
    )
    return decide_limits([limited])[0]


def exact_chance_of_at_least(k, n, ceiling):
    return math.fsum(
        math.comb(n, x) * ceiling**x * (1 - ceiling) ** (n - x) for x in range(k, n + 1)
    )


# Smallest count at which `exceeded` fails, largest at which the others pass, computed with scipy.
@pytest.mark.parametrize(
    ("ceiling", "n", "observed_to", "exceeded_from", "proven_to"),
    [
        (0.05, 25, 1, 4, None),
        (0.05, 100, 5, 10, 1),
        (0.05, 400, 20, 28, 12),
        (0.05, 1000, 50, 63, 38),
        (0.10, 25, 2, 6, None),
        (0.10, 100, 10, 16, 4),
        (0.10, 1000, 100, 117, 84),
        (0.15, 25, 3, 8, 0),
        (0.15, 400, 60, 73, 47),
        (0.50, 6, 3, 6, 0),
        (0.50, 25, 12, 18, 7),
    ],
)
def test_where_each_way_of_deciding_turns(ceiling, n, observed_to, exceeded_from, proven_to):
    assert decision(observed_to, n, ceiling, "observed").passed
    assert not decision(observed_to + 1, n, ceiling, "observed").passed
    assert decision(exceeded_from - 1, n, ceiling, "exceeded").passed
    assert not decision(exceeded_from, n, ceiling, "exceeded").passed
    if proven_to is None:
        assert not decision(0, n, ceiling, "proven").passed
    else:
        assert decision(proven_to, n, ceiling, "proven").passed
        assert not decision(proven_to + 1, n, ceiling, "proven").passed


def test_decision_carries_what_it_rests_on():
    exceeded = decision(7, 25, 0.15, "exceeded")
    assert exceeded.p_value == pytest.approx(0.06952856230775593, abs=1e-9)
    proven = decision(0, 25, 0.05, "proven")
    assert proven.bound == pytest.approx(0.1129281450068432, abs=1e-9)
    assert proven.more_clean_prompts == 34
    assert decision(8, 100, 0.15, "proven").more_clean_prompts == 0


def test_floor_of_accuracy_is_a_ceiling_on_what_went_wrong():
    accuracy = Rate(25, 25, higher_is_better=True)
    observed, exceeded, proven = decide_limits(
        [LimitedRate(rate=accuracy, limit=0.95, decide=decide) for decide in Decide]
    )
    assert observed.passed
    assert exceeded.passed
    assert not proven.passed
    assert proven.bound == pytest.approx(1 - 0.1129281450068432, abs=1e-9)
    assert proven.more_clean_prompts == 34
    below = LimitedRate(rate=Rate(18, 20, higher_is_better=True), limit=0.95)
    assert not decide_limits([below])[0].passed


@pytest.mark.parametrize("decide", Decide)
def test_rate_without_data_meets_no_limit(decide):
    assert not decide_limits([LimitedRate(rate=Rate(0, 0, 5), limit=1.0, decide=decide)])[0].passed


def test_categories_under_exceeded_are_corrected_together_and_the_others_are_not():
    eight = LimitedRate(rate=Rate(8, 25), limit=0.15, decide=Decide.EXCEEDED)
    clean = LimitedRate(rate=Rate(0, 25), limit=0.15, decide=Decide.EXCEEDED)
    observed = LimitedRate(rate=Rate(8, 25), limit=0.15)
    empty = LimitedRate(rate=Rate(0, 0), limit=0.15, decide=Decide.EXCEEDED)
    alone = 0.025467638521621584
    assert not decide_limits([eight])[0].passed
    decisions = decide_limits([observed, clean, empty, eight])
    assert [d.passed for d in decisions] == [False, True, False, True]
    assert decisions[3].p_value == pytest.approx(2 * alone, abs=1e-9)
    assert decisions[2].p_value is None


def test_samples_decide_by_what_they_are_worth():
    # 25 prompts asked five times with the same answer each time are 25 observations.
    rate = Rate(40, 125)
    as_if_independent = LimitedRate(rate=rate, limit=0.2, decide=Decide.EXCEEDED)
    clustered = LimitedRate(rate=rate, limit=0.2, decide=Decide.EXCEEDED, effective_n=25.0)
    assert not decide_limits([as_if_independent])[0].passed
    (decided,) = decide_limits([clustered])
    assert decided.passed
    assert decided.p_value == pytest.approx(exact_chance_of_at_least(8, 25, 0.2), abs=1e-9)


@pytest.mark.parametrize(
    ("ceiling", "level", "needed"),
    [(0.01, 0.95, 299), (0.05, 0.95, 59), (0.15, 0.99, 29), (0.5, 0.95, 5), (0.0, 0.95, None)],
)
def test_clean_prompts_needed(ceiling, level, needed):
    assert clean_prompts_needed(ceiling, level) == needed


@pytest.mark.parametrize(
    ("ceiling", "family", "needed"),
    [
        (0.15, 1, 2),
        (0.5, 1, 5),
        (0.7, 1, 9),
        (0.15, 6, 3),
        (0.5, 6, 7),
        (0.7, 6, 14),
        (0.0, 1, 1),
        (1.0, 1, None),
    ],
)
def test_prompts_needed_for_exceeded_to_be_able_to_fail(ceiling, family, needed):
    assert prompts_for_exceeded_to_fail(ceiling, 0.95, family) == needed
    assert prompts_to_decide(ceiling, Decide.EXCEEDED, 0.95, family) == needed


def test_limit_that_so_few_prompts_cannot_decide_is_told():
    def limited(n, decide):
        return LimitedRate(rate=Rate(0, n), limit=0.15, decide=decide)

    assert can_decide(limited(1, Decide.OBSERVED))
    assert not can_decide(limited(1, Decide.EXCEEDED))
    assert can_decide(limited(2, Decide.EXCEEDED))
    assert not can_decide(limited(2, Decide.EXCEEDED), family=6)
    assert not can_decide(limited(18, Decide.PROVEN))
    assert can_decide(limited(19, Decide.PROVEN))
    floor = LimitedRate(rate=Rate(19, 19, higher_is_better=True), limit=0.85, decide=Decide.PROVEN)
    assert can_decide(floor)


@pytest.mark.parametrize(
    ("ece", "ceiling", "holds"),
    [(abs(0.9 - 0.75), 0.15, True), (0.1500001, 0.15, False), (None, 1.0, False)],
)
def test_ece_exactly_at_its_ceiling_holds(ece, ceiling, holds):
    assert ece_holds(ece, ceiling) is holds


def test_holm_and_benjamini_hochberg():
    p_values = [0.004, 0.03, 0.011, 0.2, 0.9, 0.04]
    assert holm(p_values) == pytest.approx([0.024, 0.12, 0.055, 0.4, 0.9, 0.12])
    assert benjamini_hochberg(p_values) == pytest.approx([0.024, 0.06, 0.033, 0.24, 0.9, 0.06])
    assert holm([]) == benjamini_hochberg([]) == ()


ceilings = st.sampled_from([0.01, 0.05, 0.1, 0.15, 0.3, 0.5, 0.9])
counts = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, ceilings)
def test_chance_of_so_many_is_the_sum_of_its_terms(count, ceiling):
    k, n = count
    assert exceeds_ceiling_p_value(k, n, ceiling) == pytest.approx(
        exact_chance_of_at_least(k, n, ceiling), abs=1e-9
    )


@given(counts, ceilings)
def test_proven_passes_where_the_bound_is_below_the_ceiling(count, ceiling):
    k, n = count
    bound = clopper_pearson_upper_bound(k, n)
    if abs(bound - ceiling) > 1e-9:
        assert decision(k, n, ceiling, "proven").passed == (bound <= ceiling)


@given(counts, ceilings)
def test_that_many_more_clean_prompts_are_just_enough(count, ceiling):
    k, n = count
    more = more_clean_prompts_for_proven(k, n, ceiling)
    assert decision(k, n + more, ceiling, "proven").passed
    if more:
        assert not decision(k, n + more - 1, ceiling, "proven").passed


@given(counts, ceilings)
def test_no_way_of_deciding_both_proves_and_refutes(count, ceiling):
    k, n = count
    assert (
        decision(k, n, ceiling, "exceeded").passed or not decision(k, n, ceiling, "proven").passed
    )


@given(st.lists(st.floats(0, 1), max_size=12))
def test_corrections_keep_the_order_and_never_lower_a_p_value(p_values):
    for corrected in (holm(p_values), benjamini_hochberg(p_values)):
        assert all(p <= q <= 1.0 for p, q in zip(p_values, corrected, strict=True))
        ranked = [q for _, q in sorted(zip(p_values, corrected, strict=True))]
        assert ranked == sorted(ranked)
