"""How far a session came: whole, partial on request, stopped, or with prompts lost. Pure."""

from __future__ import annotations

from dataclasses import dataclass

_OK, _FAILED, _NONE_COLLECTED = 0, 1, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What may be concluded from a session.

    why_not_ruled: why no ceiling is ruled on; None to rule.
    complete: whether every planned trial came to an end.
    lost: whether trials are missing that nobody asked to leave out.
    all_planned: whether what was not collected counts as planned, since nobody left it out.
    """

    why_not_ruled: str | None = None
    complete: bool = True
    lost: bool = False
    all_planned: bool = False


def judge_standing(
    *,
    exit_status: int,
    stopped: bool,
    collected: int,
    selected: int,
    deselected: int,
    arrived: int,
    narrowed: bool,
    gate_partial: bool,
) -> Standing:
    """Tell what a session may conclude.

    collected: trials that the corpora hold.  selected: those that were to run.
    deselected: those that a plugin said it left out.  arrived: those that came to an end.
    narrowed: whether arguments named single prompts.
    """
    if exit_status not in (_OK, _FAILED, _NONE_COLLECTED):
        return Standing(
            why_not_ruled=f"the run was interrupted after {arrived} of {collected} prompts",
            complete=False,
        )
    left_out = collected - selected
    if left_out and not narrowed and deselected < left_out:
        return Standing(complete=False, lost=True, all_planned=True)
    if arrived < selected:
        if stopped:
            return Standing(
                why_not_ruled=f"the run stopped after {arrived} of {collected} prompts",
                complete=False,
            )
        return Standing(complete=False, lost=True)
    if left_out and not gate_partial:
        return Standing(why_not_ruled=f"partial run: {selected} of {collected}")
    return Standing()
