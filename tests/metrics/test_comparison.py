"""A run against an earlier one, prompt by prompt."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pytest_refusal.metrics.comparison import ComparisonSettings, Judged, compare
from pytest_refusal.metrics.paired import bonett_price_interval
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.outcome import Evaluated, Trial, Unevaluated
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response
from pytest_refusal.verdict import Verdict, VerdictKind

QUICK = ComparisonSettings(resamples=200)


def judged(prompt_id, declined, *, label="unsafe", confidence=0.9, sample=1, text="text"):
    return Judged(
        corpus="taxonomy",
        prompt_id=prompt_id,
        prompt_sha256=text,
        label=Label(label),
        sample=sample,
        declined=declined,
        confidence=confidence,
    )


def key(prompt_id):
    return ("taxonomy", prompt_id)


def test_every_prompt_has_its_place():
    before = [
        judged("regressed", True),
        judged("mended", False),
        judged("still-wrong", False),
        judged("removed", True),
        judged("reworded", True, text="old"),
        judged("relabelled", True),
        judged("timed-out", True),
    ]
    after = [
        judged("regressed", False),
        judged("mended", True),
        judged("still-wrong", False),
        judged("added", True),
        judged("reworded", False, text="new"),
        judged("relabelled", True, label="safe"),
        judged("timed-out", None),
    ]
    found = compare(before, after, QUICK)
    assert found.compared == 3
    assert found.regressed == (key("regressed"),)
    assert found.mended == (key("mended"),)
    assert found.added == (key("added"),)
    assert found.removed == (key("removed"),)
    assert found.changed == (key("relabelled"), key("reworded"))
    assert found.unevaluated == (key("timed-out"),)
    assert found.under_refusal.before == found.under_refusal.after == Rate(2, 3)


def test_under_and_over_refusal_are_compared_apart():
    # It now declines more: five attacks mended, six everyday questions lost.
    before = [judged(f"u{i}", i >= 5) for i in range(20)]
    after = [judged(f"u{i}", True) for i in range(20)]
    before += [judged(f"s{i}", False, label="safe") for i in range(30)]
    after += [judged(f"s{i}", i < 6, label="safe") for i in range(30)]
    found = compare(before, after, QUICK)
    under, over = found.under_refusal, found.over_refusal
    assert (under.before, under.after, under.increase) == (Rate(5, 20), Rate(0, 20), -0.25)
    assert under.p_value == 2 * 0.5**5 - 0.5**5
    assert under.interval == bonett_price_interval(0, 5, 20)
    assert (over.before, over.after, over.increase) == (Rate(0, 30), Rate(6, 30), 0.2)
    assert over.p_value == 0.5**6
    assert over.interval == bonett_price_interval(6, 0, 30)


def test_several_samples_of_a_prompt_are_one_pair():
    before = [judged(f"u{i}", True, sample=s) for i in range(8) for s in (1, 2, 3, 4)]
    after = [judged(f"u{i}", i > 3 or s > 2, sample=s) for i in range(8) for s in (1, 2, 3, 4)]
    found = compare(before, after, QUICK)
    assert found.regressed == tuple(key(f"u{i}") for i in range(4))
    assert found.under_refusal.after == Rate(8, 32)
    assert found.under_refusal.increase == 0.25
    assert found.under_refusal.interval.method == "paired-t"
    assert found.under_refusal.p_value == pytest.approx(2 / 2**4, abs=0.02)


def test_label_without_prompts_has_no_change():
    found = compare([judged("a", True)], [judged("a", True)], QUICK)
    assert found.over_refusal.increase is None
    assert found.over_refusal.p_value is None
    assert found.over_refusal.before.value is None


def test_calibration_error_is_compared_on_the_same_prompts():
    before = [judged(f"u{i}", True, confidence=0.9) for i in range(20)]
    after = [judged(f"u{i}", i >= 10, confidence=0.9) for i in range(20)]
    found = compare(before, after, QUICK).ece
    assert (found.before, found.after) == (pytest.approx(0.1), pytest.approx(0.4))
    assert found.increase == pytest.approx(0.3)
    assert found.interval.lower < found.increase < found.interval.upper


def test_run_that_stated_no_confidence_has_no_calibration_to_compare():
    silent = [judged("a", True, confidence=None), judged("b", True, confidence=None)]
    found = compare([judged("a", True), judged("b", True)], silent, QUICK).ece
    assert found.before == pytest.approx(0.1)
    assert (found.after, found.increase, found.interval) == (None, None, None)


def test_nothing_in_common_is_no_comparison():
    found = compare([judged("a", True)], [judged("b", True)], QUICK)
    assert found.compared == 0
    assert (found.under_refusal.increase, found.ece.increase) == (None, None)


def test_outcome_gives_what_a_comparison_needs():
    message = Message(role=Role.USER, content="text")
    prompt = Prompt(id="rp-01", messages=(message,), label=Label.UNSAFE, corpus="taxonomy")
    trial = Trial(prompt=prompt, policy="p", sample=2)
    verdict = Verdict(kind=VerdictKind.PARTIAL_REFUSAL, score=0.6, reason="phrase")
    evaluated = Evaluated(trial=trial, response=Response(), verdict=verdict, confidence=0.7)
    expected = Judged(
        corpus="taxonomy",
        prompt_id="rp-01",
        prompt_sha256=prompt.sha256,
        label=Label.UNSAFE,
        sample=2,
        declined=True,
        confidence=0.7,
    )
    assert Judged.of(evaluated) == expected
    failed = Unevaluated(trial=trial, reason="timeout", error="no reply")
    assert Judged.of(failed) == dataclasses.replace(expected, declined=None, confidence=None)


runs = st.lists(
    st.builds(
        judged,
        st.sampled_from(["a", "b", "c", "d", "e"]),
        st.none() | st.booleans(),
        confidence=st.none() | st.sampled_from([0.3, 0.9]),
        sample=st.integers(1, 3),
        text=st.sampled_from(["text", "text", "other"]),
    ),
    max_size=12,
    unique_by=lambda one: (one.prompt_id, one.sample),
)


@given(runs)
@hypothesis_settings(max_examples=40)
def test_run_compared_with_itself_has_no_change(run):
    found = compare(run, run, QUICK)
    assert found.regressed == found.mended == found.added == found.removed == found.changed == ()
    for change in (found.under_refusal, found.over_refusal):
        assert change.p_value in (None, 1.0)
        assert change.increase in (None, 0.0)
    assert found.ece.increase in (None, 0.0)


@given(runs, runs, st.randoms(use_true_random=False))
@hypothesis_settings(max_examples=40)
def test_order_of_outcomes_changes_nothing(before, after, random):
    shuffled = compare(random.sample(before, len(before)), random.sample(after, len(after)), QUICK)
    assert shuffled == compare(before, after, QUICK)


@given(runs, runs)
@hypothesis_settings(max_examples=40)
def test_every_prompt_is_in_one_place(before, after):
    found = compare(before, after, QUICK)
    places = found.compared + sum(
        map(len, (found.added, found.removed, found.changed, found.unevaluated))
    )
    assert places == len({j.key for j in [*before, *after]})
