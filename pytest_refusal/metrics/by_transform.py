"""Outcomes by what was done to the prompt, so that each form of attack has its own rates."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_refusal.metrics.tally import Tally
from pytest_refusal.outcome import Outcome

#: What prompts are called that stand as they were written.
UNCHANGED = "none"


def tally_by_transform(outcomes: Iterable[Outcome]) -> dict[str, Tally]:
    """Tally the outcomes of one policy under each transform, in the order of their appearance.

    Empty where no prompt was transformed: there is nothing to hold apart then.
    """
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.trial.prompt.transform or UNCHANGED, []).append(outcome)
    if not groups.keys() - {UNCHANGED}:
        return {}
    return {name: Tally.of(group) for name, group in groups.items()}
