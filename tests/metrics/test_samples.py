"""Several samples of a prompt."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pytest_refusal.metrics.intervals import wilson_interval
from pytest_refusal.metrics.samples import (
    all_of_k,
    any_of_k,
    clustered_rate,
    clustered_standard_error,
    clustered_wilson_interval,
    evaluated_by_prompt,
    mean_all_of_k,
    mean_any_of_k,
)
from pytest_refusal.outcome import Evaluated, Trial, Unevaluated
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response
from pytest_refusal.verdict import Verdict, VerdictKind

UNEQUAL = [[1], [0, 0], [0, 0, 1, 1], [0], [0, 0, 0, 0, 0], [1, 1]]


@pytest.mark.parametrize(
    ("samples", "error"),
    [
        ([[1, 1, 1], [0, 0, 0], [1, 0, 1], [0, 0, 1]], 0.18633899812498256),
        ([[1] * 4] * 3 + [[0] * 4] * 5, 0.17116329922036447),
        ([[1], [0, 1], [0, 0, 0, 1], [1, 1]], 0.1754650667105172),
    ],
)
def test_known_clustered_standard_errors(samples, error):
    assert clustered_standard_error(samples) == pytest.approx(error, abs=1e-12)


@pytest.mark.parametrize(
    ("samples", "mean", "error", "effective_n", "lower", "upper"),
    [
        (UNEQUAL, 1 / 3, 0.1788854381999832, 7.44047619047619, 0.10921556108595, 0.670949922553061),
        ([[0] * 5] * 25, 0.0, 0.0, 25.0, 0.0, 0.13319225093904846),
        (
            [[1] * 4] * 3 + [[0] * 4] * 7,
            0.3,
            0.152752523165195,
            9.23076923076923,
            0.1034970705,
            0.6140485783,
        ),
    ],
    ids=["unequal numbers of samples", "never: as many as prompts", "identical samples"],
)
def test_known_clustered_intervals(samples, mean, error, effective_n, lower, upper):
    rate = clustered_rate(samples)
    assert (rate.mean, rate.standard_error, rate.effective_n) == pytest.approx(
        (mean, error, effective_n), abs=1e-12
    )
    interval = clustered_wilson_interval(samples)
    assert (interval.lower, interval.upper) == pytest.approx((lower, upper), abs=1e-9)
    assert interval.method == "clustered-wilson"


def test_one_sample_each_is_the_plain_interval():
    interval = clustered_wilson_interval([[1]] * 4 + [[0]] * 21)
    plain = wilson_interval(4, 25)
    assert (interval.lower, interval.upper) == pytest.approx((plain.lower, plain.upper), abs=1e-12)


def test_samples_of_one_prompt_are_one_observation():
    rate = clustered_rate([[1, 0, 1, 1]])
    assert (rate.mean, rate.standard_error, rate.effective_n) == (0.75, None, 1.0)


def test_no_samples_are_no_rate():
    assert clustered_rate([]) is None
    assert clustered_rate([[], []]) is None
    assert clustered_wilson_interval([[]]) is None
    assert clustered_standard_error([]) is None


def test_prompt_without_samples_is_not_counted():
    assert clustered_rate([[1, 0], [], [0, 0]]) == clustered_rate([[1, 0], [0, 0]])


@pytest.mark.parametrize(
    ("samples", "successes", "k", "any_of", "all_of"),
    [
        (10, 3, 1, 0.3, 0.3),
        (10, 3, 5, 0.9166666666666666, 0.0),
        (5, 5, 5, 1.0, 1.0),
        (8, 0, 3, 0.0, 0.0),
        (3, 1, 4, None, None),
    ],
)
def test_any_and_all_of_k(samples, successes, k, any_of, all_of):
    assert any_of_k(samples, successes, k) == any_of
    assert all_of_k(samples, successes, k) == all_of


@pytest.mark.parametrize("arguments", [(3, 4, 1), (3, -1, 1), (3, 1, 0)])
def test_impossible_samples_are_refused(arguments):
    for of_k in (any_of_k, all_of_k):
        with pytest.raises(ValueError, match="not samples to choose from"):
            of_k(*arguments)


def test_one_leak_in_five_of_every_prompt_is_a_leak_of_every_prompt():
    leaks = [[1, 0, 0, 0, 0]] * 5
    assert clustered_rate(leaks).mean == 0.2
    assert mean_any_of_k(leaks, 5) == 1.0
    one_always_leaks = [[1] * 10] + [[0] * 10] * 4
    assert mean_any_of_k(one_always_leaks, 10) == 0.2
    assert mean_all_of_k(one_always_leaks, 10) == 0.2
    assert mean_any_of_k(leaks, 6) is None


def test_evaluated_samples_are_gathered_by_prompt_and_in_order():
    def outcome(prompt_id, sample, corpus="", evaluated=True):
        message = Message(role=Role.USER, content="text")
        prompt = Prompt(id=prompt_id, messages=(message,), label=Label.SAFE, corpus=corpus)
        trial = Trial(prompt=prompt, policy="p", sample=sample)
        if not evaluated:
            return Unevaluated(trial=trial, reason="timeout", error="no reply")
        verdict = Verdict(kind=VerdictKind.ANSWER, score=0.0, reason="no_phrase")
        return Evaluated(trial=trial, response=Response(), verdict=verdict, confidence=None)

    gathered = evaluated_by_prompt(
        [
            outcome("b", 2),
            outcome("a", 3),
            outcome("a", 1),
            outcome("a", 1, corpus="x"),
            outcome("a", 2, evaluated=False),
            outcome("c", 1, evaluated=False),
        ]
    )
    numbers = {key: [o.trial.sample for o in found] for key, found in gathered.items()}
    assert numbers == {("", "a"): [1, 3], ("", "b"): [2], ("x", "a"): [1]}
    assert list(gathered) == sorted(gathered)


by_prompt = st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=1, max_size=20)


@given(by_prompt, st.randoms(use_true_random=False))
@hypothesis_settings(max_examples=50)
def test_order_changes_no_digit(samples, random):
    shuffled = [random.sample(s, len(s)) for s in random.sample(samples, len(samples))]
    assert clustered_rate(shuffled) == clustered_rate(samples)
    assert mean_any_of_k(shuffled, 2) == mean_any_of_k(samples, 2)


@given(by_prompt)
@hypothesis_settings(max_examples=50)
def test_clustered_interval_holds_the_mean_and_is_worth_at_most_its_samples(samples):
    rate, interval = clustered_rate(samples), clustered_wilson_interval(samples)
    assert 0.0 <= interval.lower <= rate.mean <= interval.upper <= 1.0
    assert 1.0 <= rate.effective_n <= rate.samples


@given(by_prompt)
def test_clustered_interval_of_the_opposite_is_its_mirror(samples):
    opposite = clustered_wilson_interval([[not s for s in prompt] for prompt in samples])
    interval = clustered_wilson_interval(samples)
    assert (opposite.lower, opposite.upper) == pytest.approx(
        (1 - interval.upper, 1 - interval.lower), abs=1e-9
    )


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 7))
def test_of_k_is_the_share_of_all_sets_of_k(samples, k):
    if k > len(samples):
        return
    sets = list(combinations(samples, k))
    assert any_of_k(len(samples), sum(samples), k) == pytest.approx(sum(map(any, sets)) / len(sets))
    assert all_of_k(len(samples), sum(samples), k) == pytest.approx(sum(map(all, sets)) / len(sets))
