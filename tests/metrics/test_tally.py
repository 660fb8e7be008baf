"""The tally of a policy's outcomes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pytest_refusal.metrics.calibration import expected_calibration_error
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.metrics.tally import Tally
from pytest_refusal.outcome import Evaluated, Trial, Unevaluated
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response
from pytest_refusal.verdict import Evidence, Verdict, VerdictKind

REFUSAL, PARTIAL, ANSWER = VerdictKind.REFUSAL, VerdictKind.PARTIAL_REFUSAL, VerdictKind.ANSWER


def trial(label="unsafe", category="role-play"):
    message = Message(role=Role.USER, content="text")
    prompt = Prompt(id="rp-01", messages=(message,), label=Label(label), category=category)
    return Trial(prompt=prompt, policy="staging")


def evaluated(label, kind, confidence=None, *, category="role-play", rule="phrase"):
    return Evaluated(
        trial=trial(label, category),
        response=Response(text="text"),
        verdict=Verdict(
            kind=kind, score=0.5, reason="phrase", evidence=(Evidence(rule=rule, text="text"),)
        ),
        confidence=confidence,
    )


def unevaluated(label, reason="timeout", *, category="role-play"):
    return Unevaluated(trial=trial(label, category), reason=reason, error="no reply in 30 s")


def test_rates_of_a_run_with_three_prompts_that_failed():
    tally = Tally.of(
        [evaluated("unsafe", REFUSAL)] * 14
        + [evaluated("unsafe", PARTIAL)]
        + [evaluated("unsafe", ANSWER)] * 2
        + [unevaluated("unsafe")] * 2
        + [unevaluated("unsafe", "http_429")]
        + [evaluated("safe", ANSWER)] * 29
        + [evaluated("safe", REFUSAL)]
    )
    assert (tally.tp, tally.tn, tally.fp, tally.fn) == (15, 29, 1, 2)
    assert tally.under_refusal == Rate(2, 17, 3)
    assert tally.under_refusal.worst_case == 0.25
    assert tally.over_refusal == Rate(1, 30)
    assert tally.accuracy == Rate(44, 47, 3, higher_is_better=True)
    assert tally.accuracy.worst_case == 0.88
    assert tally.partial_refusal == Rate(1, 47, 3)
    assert tally.unevaluated == Rate(3, 50)
    assert tally.reasons == {"timeout": 2, "http_429": 1}


@pytest.mark.parametrize(
    ("tp", "tn", "fp", "fn", "accuracy", "under_refusal", "over_refusal"),
    [
        (21, 29, 1, 4, 0.9090909090909091, 0.16, 0.03333333333333333),
        (0, 28, 2, 0, 0.9333333333333333, None, 0.06666666666666667),
        (0, 0, 0, 0, None, None, None),
    ],
)
def test_known_rates(tp, tn, fp, fn, accuracy, under_refusal, over_refusal):
    tally = Tally.of(
        [evaluated("unsafe", REFUSAL)] * tp
        + [evaluated("safe", ANSWER)] * tn
        + [evaluated("safe", REFUSAL)] * fp
        + [evaluated("unsafe", ANSWER)] * fn
    )
    assert tally.accuracy.value == accuracy
    assert tally.under_refusal.value == under_refusal
    assert tally.over_refusal.value == over_refusal


def test_categories_are_sorted_and_only_those_with_prompts_of_the_label():
    tally = Tally.of(
        [
            evaluated("unsafe", ANSWER, category="role-play"),
            evaluated("unsafe", REFUSAL, category="role-play"),
            unevaluated("unsafe", category="encoding-trick"),
            evaluated("safe", PARTIAL, category="everyday"),
            evaluated("safe", ANSWER, category="role-play"),
        ]
    )
    assert list(tally.under_refusal_by_category.items()) == [
        ("encoding-trick", Rate(0, 0, 1)),
        ("role-play", Rate(1, 2)),
    ]
    assert list(tally.over_refusal_by_category.items()) == [
        ("everyday", Rate(1, 1)),
        ("role-play", Rate(0, 1)),
    ]


def test_refusals_of_a_provider_filter_are_counted():
    tally = Tally.of(
        [
            evaluated("unsafe", REFUSAL, rule="filter:prompt"),
            evaluated("unsafe", PARTIAL, rule="filter:completion"),
            evaluated("unsafe", REFUSAL, rule="model"),
            evaluated("unsafe", REFUSAL),
            evaluated("unsafe", ANSWER, rule="filter:prompt"),
        ]
    )
    assert tally.filtered == 2


def test_missing_confidence_counts_as_one_half_in_the_ece_only():
    tally = Tally.of(
        [
            evaluated("unsafe", REFUSAL, 0.9),
            evaluated("unsafe", ANSWER, 0.9),
            evaluated("safe", ANSWER, None),
            evaluated("safe", ANSWER, 0.5),
        ]
    )
    assert (tally.stated, tally.missing_confidence) == (3, 1)
    assert tally.ece(10) == expected_calibration_error([0.9, 0.9, 0.5, 0.5], [1, 0, 1, 1])
    assert tally.ece_stated(10) == expected_calibration_error([0.9, 0.9, 0.5], [1, 0, 1])


def test_no_stated_confidence_has_no_ece():
    tally = Tally.of([evaluated("safe", ANSWER), evaluated("safe", REFUSAL), unevaluated("safe")])
    assert tally.ece(10) is None
    assert tally.ece_stated(10) is None
    assert (tally.stated, tally.missing_confidence) == (0, 2)


@pytest.mark.parametrize("confidence", [float("nan"), float("inf"), 1.5, -0.1])
def test_impossible_confidence_names_prompt_and_policy(confidence):
    with pytest.raises(ValueError, match=r"'staging'.*'rp-01'"):
        Tally.of([evaluated("safe", ANSWER, confidence)])


labels = st.sampled_from(["safe", "unsafe"])
categories = st.sampled_from(["role-play", "encoding-trick", "everyday"])
outcomes = st.lists(
    st.builds(
        evaluated,
        labels,
        st.sampled_from(VerdictKind),
        st.none() | st.floats(0, 1) | st.sampled_from([0.3, 0.5, 0.9]),
        category=categories,
        rule=st.sampled_from(["phrase", "filter:prompt"]),
    )
    | st.builds(unevaluated, labels, st.sampled_from(["timeout", "empty"]), category=categories),
    max_size=30,
)


@given(outcomes, outcomes)
@hypothesis_settings(max_examples=50)
def test_adding_tallies_equals_tallying_both(first, second):
    assert Tally.of(first) + Tally.of(second) == Tally.of(first + second)
    assert Tally.of(first) + Tally() == Tally.of(first)


@given(outcomes, st.randoms(use_true_random=False))
@hypothesis_settings(max_examples=50)
def test_order_of_outcomes_changes_nothing(before, random):
    after = random.sample(before, len(before))
    assert Tally.of(after) == Tally.of(before)
    assert Tally.of(after).ece(10) == Tally.of(before).ece(10)


@given(outcomes, outcomes)
@hypothesis_settings(max_examples=50)
def test_ece_of_merged_tallies_is_that_of_the_public_function(first, second):
    tally = Tally.of(first) + Tally.of(second)
    both = [o for o in first + second if isinstance(o, Evaluated)]
    stated = [o for o in both if o.confidence is not None]
    if not stated:
        assert tally.ece(10) is None
        return
    assert tally.ece(10) == expected_calibration_error(
        [0.5 if o.confidence is None else o.confidence for o in both], [o.correct for o in both]
    )
    assert tally.ece_stated(10) == expected_calibration_error(
        [o.confidence for o in stated], [o.correct for o in stated]
    )


@given(outcomes)
@hypothesis_settings(max_examples=50)
def test_nothing_is_lost(every):
    tally = Tally.of(every)
    assert tally.tp + tally.tn + tally.fp + tally.fn == tally.evaluated_count
    assert tally.evaluated_count + tally.unevaluated_count == len(every)
    assert tally.stated + tally.missing_confidence == tally.evaluated_count
    for label, by_category, whole in [
        ("unsafe", tally.under_refusal_by_category, tally.under_refusal),
        ("safe", tally.over_refusal_by_category, tally.over_refusal),
    ]:
        assert sum(r.denominator + r.unevaluated for r in by_category.values()) == sum(
            o.trial.prompt.label == label for o in every
        )
        assert sum(r.numerator for r in by_category.values()) == whole.numerator
