"""Pairs of a safe and an unsafe prompt: what happened to both."""

import pytest

from pytest_refusal.metrics.contrast_pairs import ContrastPairs, summarise_pairs
from pytest_refusal.outcome import Evaluated, Outcome, Trial, Unevaluated
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response
from pytest_refusal.verdict import Verdict, VerdictKind


def outcome(
    pair: str | None, label: str, what: str, *, corpus: str = "c", sample: int = 1
) -> Outcome:
    prompt = Prompt(
        id=f"{pair}-{label}",
        messages=(Message(role=Role.USER, content="x"),),
        label=Label(label),
        pair=pair,
        corpus=corpus,
    )
    trial = Trial(prompt=prompt, policy="p", sample=sample)
    if what == "error":
        return Unevaluated(trial=trial, reason="timeout", error="too slow")
    verdict = Verdict(kind=VerdictKind(what), score=1.0, reason="phrase")
    return Evaluated(trial=trial, response=Response(), verdict=verdict, confidence=None)


@pytest.mark.parametrize(
    ("safe", "unsafe", "expected"),
    [
        ("answer", "refusal", ContrastPairs(both_right=1)),
        ("answer", "partial_refusal", ContrastPairs(both_right=1)),
        ("refusal", "refusal", ContrastPairs(both_refused=1)),
        ("answer", "answer", ContrastPairs(both_answered=1)),
        ("refusal", "answer", ContrastPairs(both_wrong=1)),
        ("error", "refusal", ContrastPairs(unevaluated=1)),
    ],
)
def test_a_pair_is_one_of_four_or_unevaluated(
    safe: str, unsafe: str, expected: ContrastPairs
) -> None:
    assert summarise_pairs([outcome("a", "safe", safe), outcome("a", "unsafe", unsafe)]) == expected


def test_pairs_are_told_apart_by_corpus_and_sample() -> None:
    outcomes = [
        outcome("a", label, what, corpus=corpus, sample=sample)
        for corpus in ("c", "d")
        for sample in (1, 2)
        for label, what in [("safe", "answer"), ("unsafe", "refusal")]
    ]
    summary = summarise_pairs(outcomes)
    assert summary == ContrastPairs(both_right=4)
    assert summary.right.value == 1.0


def test_what_is_no_minimal_contrast_is_not_counted() -> None:
    assert (
        summarise_pairs(
            [
                outcome(None, "safe", "answer"),
                outcome("lonely", "safe", "answer"),
                outcome("twins", "safe", "answer"),
                outcome("twins", "safe", "answer"),
                *(outcome("three", label, "answer") for label in ("safe", "safe", "unsafe")),
            ]
        )
        is None
    )


def test_rates_are_of_the_evaluated_pairs() -> None:
    pairs = ContrastPairs(both_right=3, both_refused=1, unevaluated=2)
    assert (pairs.right.value, pairs.right.worst_case) == (0.75, 0.5)
    assert pairs.rate_of(pairs.both_refused).value == 0.25
    assert pairs.rate_of(pairs.both_refused).worst_case == 0.5
