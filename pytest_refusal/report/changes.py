"""A comparison of two runs in words, the same in every kind of report. Pure.

The words are safe for no place yet: ids are as in the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_refusal.metrics.comparison import Comparison, PromptKey
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.metrics.wording import interval_text, number, p_value_text

_EVIDENCE = 0.05


def counts_in_words(comparison: Comparison) -> str:
    """Say how many prompts regressed and were mended, and how many could not be compared."""
    left_out = {
        "new": comparison.added,
        "removed": comparison.removed,
        "changed": comparison.changed,
        "unevaluated in one": comparison.unevaluated,
    }
    apart = ", ".join(f"{len(keys)} {word}" for word, keys in left_out.items() if keys)
    regressed, mended = len(comparison.regressed), len(comparison.mended)
    text = f"{regressed} regressed, {mended} mended of {comparison.compared}"
    return text + (f" ({apart} left out)" if apart else "")


def prompts_by_change(comparison: Comparison) -> Iterator[tuple[str, tuple[PromptKey, ...]]]:
    """Yield each kind of change with its prompts, regressions first; no kind without any."""
    kinds = {
        "regressed": comparison.regressed,
        "mended": comparison.mended,
        "new": comparison.added,
        "removed": comparison.removed,
        "changed": comparison.changed,
        "unevaluated in one": comparison.unevaluated,
    }
    yield from ((word, keys) for word, keys in kinds.items() if keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureChange:
    """How one measure changed, in words for the cells of a table.

    increase: after less before.  interval: of the increase; "" without one.  says: whether
    chance explains it, with the p-value; "" for the ECE, which has none.
    """

    name: str
    before: str
    after: str
    increase: str
    interval: str
    says: str


def measures(comparison: Comparison) -> Iterator[MeasureChange]:
    """Yield how each measure changed; none that has nothing to compare."""
    for name, change in (
        ("under-refusal", comparison.under_refusal),
        ("over-refusal", comparison.over_refusal),
    ):
        if change.increase is not None and change.p_value is not None:
            chance = "no evidence of a change" if change.p_value > _EVIDENCE else "beyond chance"
            yield MeasureChange(
                name=name,
                before=_plain(change.before),
                after=_plain(change.after),
                increase=f"{change.increase:+.3f}",
                interval=interval_text(change.interval),
                says=f"{chance}, {p_value_text(change.p_value)}",
            )
    ece = comparison.ece
    if ece.increase is not None:
        yield MeasureChange(
            name="ECE",
            before=number(ece.before),
            after=number(ece.after),
            increase=f"{ece.increase:+.3f}",
            interval=interval_text(ece.interval),
            says="",
        )


def measures_in_words(comparison: Comparison) -> Iterator[str]:
    """Say of each measure how it changed, and whether chance explains it."""
    for change in measures(comparison):
        says = f"{change.says}; " if change.says else ""
        interval = f", {change.interval}" if change.interval else ""
        yield f"{change.name} {change.before} to {change.after}: {says}{change.increase}{interval}"


def _plain(rate: Rate) -> str:
    text = f"{rate.numerator}/{rate.denominator}"
    return text if rate.value is None else f"{text} = {number(rate.value)}"
