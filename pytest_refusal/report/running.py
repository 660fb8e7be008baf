"""The rates of a run that is not at its end yet, in one line. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_refusal.escape import one_line
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.metrics.tally import Tally
from pytest_refusal.outcome import Outcome
from pytest_refusal.report.lines import name_in


def running_line(outcomes: Iterable[Outcome], *, planned: int, width: int, encoding: str) -> str:
    """Say how far the run is, and the mistakes of each policy; cut to `width` columns.

    encoding: of the terminal; what it lacks is written as escapes.
    """
    by_policy: dict[str, list[Outcome]] = {}
    arrived = 0
    for outcome in outcomes:
        by_policy.setdefault(outcome.trial.policy, []).append(outcome)
        arrived += 1
    parts = [f"refusal: {arrived} of {planned}"]
    for policy, found in by_policy.items():
        tally = Tally.of(found)
        text = f"{one_line(policy, 20)}: under {_short(tally.under_refusal)}"
        text += f", over {_short(tally.over_refusal)}"
        if tally.unevaluated_count:
            text += f", {tally.unevaluated_count} unevaluated"
        parts.append(text)
    return name_in(encoding, " | ".join(parts), width)


def _short(rate: Rate) -> str:
    return f"{rate.numerator}/{rate.denominator}"
