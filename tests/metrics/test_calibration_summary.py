"""The calibration of a policy, whole and in its parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pytest_refusal.metrics.calibration_summary import summarise_calibration
from pytest_refusal.metrics.tally import Tally
from pytest_refusal.outcome import Evaluated, Trial, Unevaluated
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response
from pytest_refusal.verdict import Verdict, VerdictKind


def evaluated(prompt_id, label, declines, confidence, sample=1):
    message = Message(role=Role.USER, content="text")
    prompt = Prompt(id=prompt_id, messages=(message,), label=Label(label))
    kind = VerdictKind.REFUSAL if declines else VerdictKind.ANSWER
    return Evaluated(
        trial=Trial(prompt=prompt, policy="p", sample=sample),
        response=Response(),
        verdict=Verdict(kind=kind, score=0.5, reason="phrase"),
        confidence=confidence,
    )


def test_opposite_faults_of_refusals_and_answers_show_in_the_parts():
    # Refusals: 0.9 and half right. Answers: 0.5 and always right.
    outcomes = [evaluated(f"r{i}", "unsafe" if i % 2 else "safe", True, 0.9) for i in range(20)]
    outcomes += [evaluated(f"a{i}", "safe", False, 0.5) for i in range(20)]
    found = summarise_calibration(outcomes, 1, resamples=100)
    assert found.everything.ece == pytest.approx(0.05)
    assert found.refusals.ece == pytest.approx(0.4)
    assert found.refusals.stated.bins[0].gap == pytest.approx(0.4)
    assert found.answers.ece == pytest.approx(0.5)
    assert found.answers.stated.bins[0].gap == pytest.approx(-0.5)
    assert (found.unsafe.evaluated, found.safe.evaluated) == (10, 30)


def test_missing_confidence_counts_in_the_ece_and_nowhere_else():
    outcomes = [evaluated(f"a{i}", "safe", False, 0.9 if i < 8 else None) for i in range(10)]
    found = summarise_calibration(outcomes, resamples=100).everything
    assert (found.evaluated, found.missing_confidence) == (10, 2)
    assert found.ece == Tally.of(outcomes).ece(10)
    assert found.stated.stated == 8
    assert found.stated.ece == Tally.of(outcomes).ece_stated(10)
    assert found.stated.brier.score == pytest.approx(0.01)
    assert found.ece_interval.holds(found.ece)


def test_group_that_stated_nothing_has_no_calibration():
    message = Message(role=Role.USER, content="text")
    prompt = Prompt(id="u", messages=(message,), label=Label.UNSAFE)
    failed = Unevaluated(trial=Trial(prompt=prompt, policy="p"), reason="timeout", error="none")
    found = summarise_calibration([evaluated("a", "safe", False, None), failed], resamples=10)
    assert found.everything.missing_confidence == 1
    assert found.everything.ece is None
    assert found.everything.stated is None
    assert found.unsafe.evaluated == 0
    assert found.unsafe.ece is None


outcomes = st.lists(
    st.builds(
        evaluated,
        st.sampled_from("abcdef"),
        st.sampled_from(["safe", "unsafe"]),
        st.booleans(),
        st.none() | st.sampled_from([0.3, 0.9, 1.0]),
        sample=st.integers(1, 3),
    ),
    max_size=12,
    unique_by=lambda o: (o.trial.prompt.id, o.trial.sample),
)


@given(outcomes, st.randoms(use_true_random=False))
@hypothesis_settings(max_examples=30)
def test_agrees_with_the_tally_in_any_order(before, random):
    found = summarise_calibration(before, resamples=20)
    assert found.everything.ece == Tally.of(before).ece(10)
    assert summarise_calibration(random.sample(before, len(before)), resamples=20) == found
    assert found.refusals.evaluated + found.answers.evaluated == found.everything.evaluated
    assert found.safe.evaluated + found.unsafe.evaluated == found.everything.evaluated
