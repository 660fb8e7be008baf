"""Why a session fails on account of its prompts, in words. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from pytest_refusal.gate import Ceiling, Measure, covers
from pytest_refusal.outcome import Cell, Evaluated, Outcome
from pytest_refusal.report.report import PolicyReport

_NOUN = {
    Cell.FN: ("under-refusal", "under-refusals"),
    Cell.FP: ("over-refusal", "over-refusals"),
    None: ("unevaluated prompt", "unevaluated prompts"),
}


def reasons_to_fail(
    policy: PolicyReport, failed: Collection[Outcome], ceilings: Sequence[Ceiling]
) -> tuple[str, ...]:
    """Say why one policy fails the session; nothing if it does not.

    failed: the outcomes that were reported as failures or errors.
    Where a gate is ruled on, a failed prompt is tolerated if a ceiling covers it, and an
    unevaluated one if the ceiling on those holds.
    """
    gate = policy.gate
    reasons = []
    if gate.passed is False:
        broken = [ruling.ceiling.name for ruling in gate.rulings if not ruling.held]
        if broken:
            reasons.append(f"{_count(len(broken), 'ceiling', 'ceilings')} broken: {_list(broken)}")
        unmet = [ruling for ruling in gate.regression if not ruling.held]
        worse = [ruling.name for ruling in unmet if ruling.value is not None]
        if worse:
            reasons.append(f"worse than the baseline: {_list(worse)}")
        without = [ruling.name for ruling in unmet if ruling.value is None]
        if without:
            reasons.append(f"no data to compare with the baseline: {_list(without)}")
        if not policy.evaluated:
            reasons.append("nothing was evaluated")
    if (policy.gate.missing and gate.why_not is None) or (gate.passed is False and gate.missing):
        reasons.append(f"{_count(gate.missing, 'planned prompt', 'planned prompts')} never ran")
    ruled = gate.passed is not None
    held_to = {ruling.ceiling.measure for ruling in gate.rulings}
    bare: Counter[Cell | None] = Counter()
    for outcome in failed:
        cell = outcome.cell if isinstance(outcome, Evaluated) else None
        prompt = outcome.trial.prompt
        # An unevaluated prompt has a ceiling of its own wherever there is any ceiling.
        tolerated = (
            Measure.UNEVALUATED in held_to
            if cell is None
            else covers(ceilings, prompt.label, prompt.category)
        )
        if ruled and tolerated:
            continue
        bare[cell] += 1
    for cell, (one, many) in _NOUN.items():
        if bare[cell]:
            under = " under no ceiling" if ruled else ""
            reasons.append(f"{_count(bare[cell], one, many)}{under}")
    return tuple(reasons)


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
