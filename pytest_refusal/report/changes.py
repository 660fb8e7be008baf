"""A comparison of two runs in words, the same in every kind of report. Pure.

The words are safe for no place yet: ids are as in the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_refusal.metrics.comparison import Comparison, PromptKey, RateChange
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


def measures_in_words(comparison: Comparison) -> Iterator[str]:
    """Say of each measure how it changed, and whether chance explains it."""
    for name, change in (
        ("under-refusal", comparison.under_refusal),
        ("over-refusal", comparison.over_refusal),
    ):
        if (text := _rate_change(change)) is not None:
            yield f"{name} {text}"
    ece = comparison.ece
    if ece.increase is not None:
        yield (
            f"ECE {number(ece.before)} to {number(ece.after)}: {ece.increase:+.3f},"
            f" {interval_text(ece.interval)}"
        )


def _rate_change(change: RateChange) -> str | None:
    if change.increase is None or change.p_value is None:
        return None
    chance = "no evidence of a change" if change.p_value > _EVIDENCE else "beyond chance"
    return (
        f"{_plain(change.before)} to {_plain(change.after)}: {chance},"
        f" {p_value_text(change.p_value)}; {change.increase:+.3f}, {interval_text(change.interval)}"
    )


def _plain(rate: Rate) -> str:
    text = f"{rate.numerator}/{rate.denominator}"
    return text if rate.value is None else f"{text} = {number(rate.value)}"
