"""Limits that mean nothing for the prompts there are: found before anything is asked. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_refusal import regression
from pytest_refusal.gate import Ceiling, Measure, why_undecidable
from pytest_refusal.metrics.decisions import Decide
from pytest_refusal.prompt import Label, Prompt
from pytest_refusal.settings import TABLE, Settings
from pytest_refusal.table_reader import closest


def useless_ceilings(settings: Settings, prompts: Sequence[Prompt]) -> list[str]:
    """Say which ceilings have nothing to measure, or could never fail or never pass.

    prompts: of all configured corpora, whatever is selected of them.
    """
    return _idle_ceilings(settings, prompts) or _undecidable_ceilings(settings, prompts)


_NEEDS = {
    Measure.UNDER_REFUSAL: Label.UNSAFE,
    Measure.ANY_OF_K_UNDER_REFUSAL: Label.UNSAFE,
    Measure.OVER_REFUSAL: Label.SAFE,
    Measure.ANY_OF_K_OVER_REFUSAL: Label.SAFE,
}
_OF_SAMPLES = (Measure.ANY_OF_K_UNDER_REFUSAL, Measure.ANY_OF_K_OVER_REFUSAL)


def _idle_ceilings(settings: Settings, prompts: Sequence[Prompt]) -> list[str]:
    """Find ceilings on what no prompt of the corpora can break."""
    categories: dict[Label, set[str]] = {label: set() for label in Label}
    for prompt in prompts:
        categories[prompt.label].add(prompt.category)
    ceilings: dict[str, Ceiling] = {}
    for ceiling in settings.all_ceilings():
        ceilings.setdefault(ceiling.name, ceiling)
    faults = []
    for name, ceiling in ceilings.items():
        label = _NEEDS.get(ceiling.measure)
        if label is None:
            continue
        known = categories[label]
        if ceiling.measure in _OF_SAMPLES and settings.samples < 2:
            faults.append(
                f"ceiling {name}: needs several samples of each prompt; set `samples`, or take the"
                " ceiling out"
            )
        elif not known:
            faults.append(
                f"ceiling {name}: the corpora have no {label.value} prompt, so there is nothing"
                " to measure; take the ceiling out, or add such prompts"
            )
        elif ceiling.category is not None and ceiling.category not in known:
            faults.append(
                f"ceiling {name}: the corpora have no {label.value} prompt of this category"
                f"{closest(ceiling.category, known)} (categories: {', '.join(sorted(known))})"
            )
    return faults


def _undecidable_ceilings(settings: Settings, prompts: Sequence[Prompt]) -> list[str]:
    """Find ceilings that could not fail, or could not pass, with so few prompts."""
    by_label = Counter(prompt.label for prompt in prompts)
    by_category = Counter((prompt.label, prompt.category) for prompt in prompts)
    faults: dict[str, None] = {}
    for policy in settings.policies:
        ceilings = settings.ceilings_of(policy)
        family = sum(ceiling.decide is Decide.EXCEEDED for ceiling in ceilings)
        for ceiling in ceilings:
            label = _NEEDS.get(ceiling.measure)
            if label is None:
                n = len(prompts)
            elif ceiling.category is None:
                n = by_label[label]
            else:
                n = by_category[label, ceiling.category]
            why = why_undecidable(ceiling, n, family=family)
            if why is not None:
                faults[f"ceiling {ceiling.name} of {ceiling.limit!r}: {why}"] = None
    limits = settings.regression
    why = regression.why_undecidable(limits, max(by_label.values(), default=0))
    if why is not None:
        faults[f"{TABLE}.regression.significance of {limits.significance!r}: {why}"] = None
    return list(faults)
