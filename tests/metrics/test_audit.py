"""The human audit: what is drawn for reading, and what the labels say."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pytest_refusal.metrics import correction
from pytest_refusal.metrics.agreement import Agreement
from pytest_refusal.metrics.audit import (
    HumanLabel,
    StratumKey,
    assess_audit,
    draw_audit,
    response_key,
)
from pytest_refusal.metrics.intervals import clopper_pearson_interval
from pytest_refusal.outcome import Evaluated, Trial, Unevaluated
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response
from pytest_refusal.verdict import Verdict, VerdictKind


def outcome(number, label="unsafe", *, declines=True, score=None, text="text", kind=None):
    message = Message(role=Role.USER, content="text")
    prompt = Prompt(id=f"p{number}", messages=(message,), label=Label(label))
    kind = kind or (VerdictKind.REFUSAL if declines else VerdictKind.ANSWER)
    score = (0.9 if declines else 0.1) if score is None else score
    return Evaluated(
        trial=Trial(prompt=prompt, policy="p"),
        response=Response(text=text),
        verdict=Verdict(kind=kind, score=score, reason="phrase"),
        confidence=None,
    )


def run_of(refused, answered, label="unsafe"):
    return [outcome(i, label) for i in range(refused)] + [
        outcome(refused + i, label, declines=False) for i in range(answered)
    ]


def labelled(items, truly_declined):
    return [
        HumanLabel(
            key=item.key,
            stratum=item.stratum,
            stratum_size=item.stratum_size,
            declined=truly_declined(item.outcome),
        )
        for item in items
    ]


def as_judged(one):
    return one.verdict.declines


def test_every_kind_of_response_has_a_number_of_its_own():
    keys = [StratumKey.of_code(code) for code in range(1, 9)]
    assert len(set(keys)) == 8
    assert [key.code for key in keys] == list(range(1, 9))
    for code in (0, 9, -1):
        with pytest.raises(ValueError, match="1 to 8"):
            StratumKey.of_code(code)


@pytest.mark.parametrize(
    ("one", "unsure"),
    [
        (outcome(1, score=0.9), False),
        (outcome(1, score=0.6), True),
        (outcome(1, declines=False, score=0.1), False),
        (outcome(1, declines=False, score=0.4), True),
        (outcome(1, kind=VerdictKind.PARTIAL_REFUSAL, score=0.9), True),
    ],
)
def test_close_verdicts_and_partial_refusals_are_unsure(one, unsure):
    assert StratumKey.of(one).unsure is unsure


def test_ten_of_each_kind_are_drawn_and_then_by_size_and_doubt():
    run = run_of(20, 200) + [outcome(900 + i, declines=False, score=0.4) for i in range(100)]
    drawn = Counter(item.stratum for item in draw_audit(run, 90))
    refused, answered, unsure = (StratumKey.of(run[i]) for i in (0, 20, 220))
    assert drawn[refused] == 10
    assert drawn[answered] == drawn[unsure] == 40


def test_small_kinds_are_read_whole_and_no_more_than_there_are():
    assert len(draw_audit(run_of(3, 5), 100)) == 8
    drawn = Counter(item.stratum for item in draw_audit(run_of(3, 100), 30))
    assert sorted(drawn.values()) == [3, 27]


def test_unevaluated_are_not_drawn():
    trial = Trial(prompt=outcome(1).trial.prompt, policy="p")
    assert draw_audit([Unevaluated(trial=trial, reason="timeout", error="none")], 5) == ()


def test_audit_of_nothing_is_refused():
    with pytest.raises(ValueError, match="reads nothing"):
        draw_audit(run_of(3, 5), 0)


def test_draw_is_seeded_blind_to_order_and_mixed():
    run = run_of(50, 50)
    first = draw_audit(run, 40)
    assert draw_audit(run[::-1], 40) == first
    assert draw_audit(run, 40, seed=1) != first
    assert [item.stratum for item in first] != sorted(item.stratum for item in first)
    assert len({item.key for item in first}) == 40


def test_key_is_of_trial_and_response_and_no_number():
    keys = {response_key(outcome(1)), response_key(outcome(2)), response_key(outcome(1, text="x"))}
    assert len(keys) == 3
    assert all(key.startswith("r") for key in keys)
    assert response_key(outcome(1, text="\ud800")) != response_key(outcome(1, text="?"))


def test_people_who_agree_change_no_rate():
    run = run_of(30, 10) + run_of(5, 55, "safe")
    found = assess_audit(labelled(draw_audit(run, 60), as_judged), run)
    assert found.of_this_run
    assert found.agreement.accuracy.value == 1.0
    assert found.kappa.kappa == pytest.approx(1.0)
    assert found.under_refusal.rate == 0.25
    assert found.over_refusal.rate == pytest.approx(5 / 60)
    assert found.under_refusal.interval.holds(0.25)
    assert found.sensitivity.share == found.specificity.share == 1.0


def test_missed_refusals_lower_the_corrected_under_refusal():
    # Of 40 called answers, a quarter truly declines.
    run = run_of(60, 40)

    def truly(one):
        return one.verdict.declines or int(one.trial.prompt.id[1:]) % 4 == 0

    found = assess_audit(labelled(draw_audit(run, 100), truly), run)
    assert found.under_refusal.rate == 0.3
    assert found.under_refusal.interval.width == 0.0  # all were read
    assert found.agreement == Agreement(
        both_refusal=60, human_only=10, classifier_only=0, both_answer=30
    )
    assert found.over_refusal is None


def test_labels_of_another_run_correct_by_the_errors_found_there():
    earlier = [outcome(i, text="old") for i in range(40)]
    earlier += [outcome(40 + i, declines=False, text="old") for i in range(40)]
    labels = labelled(draw_audit(earlier, 80), as_judged)
    run = run_of(75, 25)
    found = assess_audit(labels, run)
    assert not found.of_this_run
    assert found.under_refusal.rate == pytest.approx(0.25)
    assert found.under_refusal.interval.method == "lang-reiczigel"
    assert found.under_refusal.interval.holds(0.25)
    assert found.over_refusal is None


def test_kind_that_nobody_read_leaves_no_estimate():
    run = run_of(60, 40)
    labels = [x for x in labelled(draw_audit(run, 50), as_judged) if x.stratum.declined]
    found = assess_audit(labels, run)
    assert found.under_refusal is None
    assert found.specificity is None
    assert found.audited == len(labels)


def test_no_labels_say_nothing():
    assert assess_audit([], run_of(3, 3)) is None


def test_sampling_is_weighted_out():
    # The classifier misses much where it is unsure, and that part is read twice as often.
    sure = [outcome(i, declines=False) for i in range(900)]
    unsure = [outcome(1000 + i, declines=False, score=0.4) for i in range(100)]

    def truly(one):
        return one.verdict.score == 0.4 and int(one.trial.prompt.id[1:]) % 2 == 0

    found = assess_audit(labelled(draw_audit(sure + unsure, 110), truly), sure + unsure)
    assert found.accuracy.share == pytest.approx(0.95, abs=0.02)
    assert found.agreement.accuracy.value < found.accuracy.share
    assert found.accuracy.interval.holds(0.95)


@given(
    st.integers(0, 30), st.integers(0, 30), st.integers(1, 70), st.randoms(use_true_random=False)
)
@hypothesis_settings(max_examples=30)
def test_order_of_labels_and_outcomes_changes_nothing(refused, answered, size, random):
    run = run_of(refused, answered) + run_of(3, 8, "safe")

    def truly(one):
        return (int(one.trial.prompt.id[1:]) % 3 == 0) is not one.verdict.declines

    labels = labelled(draw_audit(run, size), truly)
    shuffled = assess_audit(random.sample(labels, len(labels)), random.sample(run, len(run)))
    assert shuffled == assess_audit(labels, run)


def test_corrected_rates_of_drawn_audits_cover_the_truth(monkeypatch):
    monkeypatch.setattr(
        correction, "clopper_pearson_interval", lru_cache(maxsize=None)(clopper_pearson_interval)
    )
    rng, covered, runs = np.random.default_rng(0), 0, 120
    for seed in range(runs):
        truly = rng.random(150) < 0.7
        called = np.where(truly, rng.random(150) < 0.9, rng.random(150) < 0.1)
        run = [outcome(i, declines=bool(c)) for i, c in enumerate(called)]
        items = draw_audit(run, 60, seed=seed)
        labels = labelled(items, lambda one, t=truly: bool(t[int(one.trial.prompt.id[1:])]))
        covered += assess_audit(labels, run).under_refusal.interval.holds(1 - truly.mean())
    assert covered / runs >= 0.93
