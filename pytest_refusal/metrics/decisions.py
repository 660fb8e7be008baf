"""What a ceiling decides: whether a rate holds, and whether so few prompts can tell at all.

Does not know which ceilings there are, nor what follows for the session.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from pytest_refusal.metrics.distributions import (
    binomial_at_least,
    binomial_at_most,
    check_level,
)
from pytest_refusal.metrics.intervals import clopper_pearson_upper_bound
from pytest_refusal.metrics.rates import Rate

# A chance computed to be at the level is at the level: the last digits are rounding.
_SLACK = 1e-12

# |0.9 - 0.75| is 0.15000000000000002 in binary, and what is exactly at its ceiling passes.
_ECE_SLACK = 1e-9


class Decide(StrEnum):
    """What a ceiling rules on.

    observed: the rate itself.
    exceeded: fails only if the data show that the true rate is above the ceiling.
    proven: passes only if the data show that the true rate is not above it.
    """

    OBSERVED = "observed"
    EXCEEDED = "exceeded"
    PROVEN = "proven"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedRate:
    """A rate and the ceiling over it; for a rate that should be high, the floor under it.

    effective_n: how many independent prompts the outcomes are worth, where several samples
        of a prompt were taken; None if each outcome is one.
    """

    rate: Rate
    limit: float
    decide: Decide = Decide.OBSERVED
    confidence_level: float = 0.95
    effective_n: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Whether a limit holds, and by what.

    p_value: under `exceeded`, the chance of so many misses at the limit, after Holm.
    bound: under `proven`, the highest rate of misses that the data leave possible; for a
        floor, the lowest rate.
    more_clean_prompts: under `proven`, further prompts without a miss until it passes;
        None if no number is enough, or the question does not arise.
    """

    passed: bool
    p_value: float | None = None
    bound: float | None = None
    more_clean_prompts: int | None = None


def decide_limits(limited: Sequence[LimitedRate]) -> tuple[Decision, ...]:
    """Rule on all limits of one policy at once, in their order.

    A rate without a denominator meets no limit.  Those that decide by `exceeded` are one
    family and are corrected by Holm's method; `proven` passes only where each limit is
    shown to hold and needs no correction (Berger 1982).
    """
    tested = [
        index
        for index, one in enumerate(limited)
        if one.decide is Decide.EXCEEDED and one.rate.denominator
    ]
    adjusted = holm([exceeds_ceiling_p_value(*_misses(limited[i])) for i in tested])
    p_values = dict(zip(tested, adjusted, strict=True))
    return tuple(_decide(one, p_values.get(index)) for index, one in enumerate(limited))


def ece_holds(ece: float | None, ceiling: float) -> bool:
    """Tell whether a calibration error meets its ceiling; one that is not known does not."""
    return ece is not None and ece <= ceiling + _ECE_SLACK


def exceeds_ceiling_p_value(misses: float, n: float, ceiling: float) -> float:
    """Compute the chance of `misses` or more of n if the true rate were at the ceiling."""
    return binomial_at_least(misses, n, ceiling)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust p-values so that the chance of any false alarm is kept.  Source: Holm (1979)."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return tuple(adjusted)


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust p-values so that the share of false alarms among alarms is kept.

    For pointing at where to look, not for a gate.  Source: Benjamini & Hochberg (1995).
    """
    adjusted = [0.0] * len(p_values)
    lowest = 1.0
    by_size = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank in range(len(p_values), 0, -1):
        index = by_size[rank - 1]
        lowest = min(lowest, len(p_values) / rank * p_values[index])
        adjusted[index] = lowest
    return tuple(adjusted)


def clean_prompts_needed(ceiling: float, confidence_level: float = 0.95) -> int | None:
    """Find how many prompts without a miss it takes to prove a rate below `ceiling`.

    None for a ceiling of 0, which no number of prompts proves.
    """
    return more_clean_prompts_for_proven(0, 0, ceiling, confidence_level)


def more_clean_prompts_for_proven(
    misses: float, n: float, ceiling: float, confidence_level: float = 0.95
) -> int | None:
    """Find how many further prompts without a miss would prove the rate below `ceiling`.

    0 if it is proven already; None for a ceiling of 0, which no number of prompts proves.
    """
    check_level(confidence_level)
    if ceiling <= 0.0:
        return None
    if n and _is_proven(misses, n, ceiling, confidence_level):
        return 0
    enough = 1
    while not _is_proven(misses, n + enough, ceiling, confidence_level):
        enough *= 2
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if _is_proven(misses, n + middle, ceiling, confidence_level):
            enough = middle
        else:
            too_few = middle
    return enough


def prompts_for_exceeded_to_fail(
    ceiling: float, confidence_level: float = 0.95, family: int = 1
) -> int | None:
    """Find the fewest prompts with which `exceeded` can fail, if every one is a miss.

    family: how many ceilings of the policy decide by `exceeded`.
    None for a ceiling of 1, which nothing exceeds.
    """
    check_level(confidence_level)
    if ceiling >= 1.0:
        return None
    if ceiling <= 0.0:
        return 1
    return max(
        1, math.ceil(math.log((1.0 - confidence_level) / family) / math.log(ceiling) - _SLACK)
    )


def can_decide(limited: LimitedRate, family: int = 1) -> bool:
    """Tell whether a limit can both hold and break, with as many prompts as there are."""
    n = limited.rate.denominator if limited.effective_n is None else limited.effective_n
    needed = prompts_to_decide(
        _ceiling_on_misses(limited), limited.decide, limited.confidence_level, family
    )
    return needed is not None and n >= needed


def prompts_to_decide(
    ceiling: float, decide: Decide, confidence_level: float = 0.95, family: int = 1
) -> int | None:
    """Find the fewest prompts with which a ceiling can both hold and break.

    None if no number is enough.  For a floor f, ask with the ceiling 1 - f.
    """
    match decide:
        case Decide.OBSERVED:
            return 1
        case Decide.EXCEEDED:
            return prompts_for_exceeded_to_fail(ceiling, confidence_level, family)
        case Decide.PROVEN:
            return clean_prompts_needed(ceiling, confidence_level)
        case _:
            assert_never(decide)


def _decide(limited: LimitedRate, p_value: float | None) -> Decision:
    rate, value = limited.rate, limited.rate.value
    if value is None:
        return Decision(passed=False)
    match limited.decide:
        case Decide.OBSERVED:
            holds = value >= limited.limit if rate.higher_is_better else value <= limited.limit
            return Decision(passed=holds)
        case Decide.EXCEEDED:
            shown = p_value is not None and p_value <= 1.0 - limited.confidence_level + _SLACK
            return Decision(passed=not shown, p_value=p_value)
        case Decide.PROVEN:
            misses, n, ceiling = _misses(limited)
            level = limited.confidence_level
            bound = clopper_pearson_upper_bound(misses, n, level)
            more = more_clean_prompts_for_proven(misses, n, ceiling, level)
            return Decision(
                passed=more == 0,
                bound=1.0 - bound if rate.higher_is_better else bound,
                more_clean_prompts=more,
            )
        case _:
            assert_never(limited.decide)


def _misses(limited: LimitedRate) -> tuple[float, float, float]:
    # (misses, of how many, ceiling on them); a floor on what is right is a ceiling on the rest.
    rate = limited.rate
    misses = rate.denominator - rate.numerator if rate.higher_is_better else rate.numerator
    ceiling = _ceiling_on_misses(limited)
    if limited.effective_n is None:
        return misses, rate.denominator, ceiling
    return misses / rate.denominator * limited.effective_n, limited.effective_n, ceiling


def _ceiling_on_misses(limited: LimitedRate) -> float:
    return 1.0 - limited.limit if limited.rate.higher_is_better else limited.limit


def _is_proven(misses: float, n: float, ceiling: float, confidence_level: float) -> bool:
    # The same as the one-sided Clopper-Pearson bound being no higher than the ceiling.
    return binomial_at_most(misses, n, ceiling) <= 1.0 - confidence_level + _SLACK
