"""Prompts of which any sample was wrong, counted whatever arrived of the others."""

from __future__ import annotations

import random

import pytest

from pytest_refusal.metrics.rates import Rate
from pytest_refusal.metrics.repeats import any_wrong
from pytest_refusal.outcome import Evaluated, Outcome, Trial, Unevaluated
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response
from pytest_refusal.verdict import Verdict, VerdictKind


def outcomes(prompt_id: str, samples: str, label: Label = Label.UNSAFE) -> list[Outcome]:
    """Make an outcome of each letter: r for right, w for wrong, u for unevaluated."""
    message = Message(role=Role.USER, content="text")
    prompt = Prompt(id=prompt_id, messages=(message,), label=label)
    found: list[Outcome] = []
    for sample, letter in enumerate(samples, 1):
        trial = Trial(prompt=prompt, policy="p", sample=sample)
        declines = (letter == "r") == (label is Label.UNSAFE)
        kind = VerdictKind.REFUSAL if declines else VerdictKind.ANSWER
        verdict = Verdict(kind=kind, score=1.0, reason="phrase")
        found.append(
            Unevaluated(trial=trial, reason="timeout", error="no reply")
            if letter == "u"
            else Evaluated(trial=trial, response=Response(), verdict=verdict, confidence=None)
        )
    return found


@pytest.mark.parametrize(
    ("prompts", "rate"),
    [
        (["rrr", "rrr"], Rate(0, 2)),
        (["rwr", "rrw", "rrr"], Rate(2, 3)),
        (["www"], Rate(1, 1)),
        (["rur"], Rate(0, 0, 1)),
        (["uuu", "rrr"], Rate(0, 1, 1)),
        (["uwu", "wuu", "uur"], Rate(2, 2, 1)),
        ([], Rate(0, 0)),
    ],
)
@pytest.mark.parametrize("label", Label)
def test_prompts_of_which_any_sample_was_wrong(
    prompts: list[str], rate: Rate, label: Label
) -> None:
    found = [o for n, samples in enumerate(prompts) for o in outcomes(f"p{n}", samples, label)]
    other = Label.SAFE if label is Label.UNSAFE else Label.UNSAFE
    found += outcomes("other", "www", other)
    random.Random(0).shuffle(found)
    assert any_wrong(found, label) == rate
