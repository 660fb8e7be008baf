"""Rates under each transform."""

from pytest_refusal.metrics.by_transform import tally_by_transform
from pytest_refusal.outcome import Evaluated, Trial
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response
from pytest_refusal.verdict import Verdict, VerdictKind


def outcome(transform: str | None, label: Label, kind: VerdictKind) -> Evaluated:
    prompt = Prompt(
        id="a",
        messages=(Message(role=Role.USER, content="x"),),
        label=label,
        transform=transform,
    )
    return Evaluated(
        trial=Trial(prompt=prompt, policy="p"),
        response=Response(),
        verdict=Verdict(kind=kind, score=1.0, reason="phrase"),
        confidence=None,
    )


def test_each_transform_has_its_rates() -> None:
    tallies = tally_by_transform(
        [
            outcome(None, Label.UNSAFE, VerdictKind.REFUSAL),
            outcome("hex", Label.UNSAFE, VerdictKind.ANSWER),
            outcome(None, Label.SAFE, VerdictKind.ANSWER),
            outcome("hex", Label.SAFE, VerdictKind.REFUSAL),
            outcome("hex", Label.SAFE, VerdictKind.ANSWER),
        ]
    )
    assert list(tallies) == ["none", "hex"]
    assert (tallies["none"].under_refusal.value, tallies["none"].over_refusal.value) == (0.0, 0.0)
    assert (tallies["hex"].under_refusal.value, tallies["hex"].over_refusal.value) == (1.0, 0.5)


def test_without_transforms_there_is_nothing_to_tell() -> None:
    assert tally_by_transform([outcome(None, Label.SAFE, VerdictKind.ANSWER)]) == {}
