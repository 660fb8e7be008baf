"""What a report says of a run, in the same words and order whatever its kind. Pure.

The words are safe for no place yet: names and categories are as in the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pytest_refusal.gate import NO_CEILING, Measure, Ruling
from pytest_refusal.metrics.calibration import CalibrationBin
from pytest_refusal.metrics.calibration_summary import GroupCalibration
from pytest_refusal.metrics.correction import CorrectedRate
from pytest_refusal.metrics.estimates import Estimate
from pytest_refusal.metrics.intervals import Interval
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.metrics.wording import NO_DATA, fraction, interval_text, number
from pytest_refusal.outcome import Cell, Evaluated, Outcome
from pytest_refusal.report.report import PolicyReport, Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measure of one policy.

    rate: None for the ECE.  interval: None where there is no data.  words: the value, never
    without what it is made of.  ruling: what was ruled on the ceiling over it, if there is one.
    corrected: the rate after a human audit, in words; "" without one.
    """

    name: str
    value: float | None
    words: str
    rate: Rate | None = None
    interval: Interval | None = None
    ruling: Ruling | None = None
    corrected: str = ""

    @property
    def is_broken(self) -> bool:
        """Whether it breaks its ceiling."""
        return self.ruling is not None and not self.ruling.held


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryFigures:
    """The two rates of a category; None where it has no prompt of the label."""

    category: str
    under: Figure | None
    over: Figure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Whether the session fails on account of its prompts, and why."""

    failed: bool
    words: str


def main_figures(policy: PolicyReport) -> tuple[Figure, ...]:
    """Return under-refusal, over-refusal, accuracy and ECE."""
    interval = policy.calibration().everything.ece_interval
    ece = replace(bare_ece(policy), words=_ece_words(policy), interval=interval)
    return *rate_figures(policy), ece


def rate_figures(policy: PolicyReport) -> tuple[Figure, ...]:
    """Return under-refusal, over-refusal and accuracy."""
    estimates = policy.estimates
    under = _figure(policy, "under-refusal", estimates.under_refusal, Measure.UNDER_REFUSAL)
    over = _figure(policy, "over-refusal", estimates.over_refusal, Measure.OVER_REFUSAL)
    audit = policy.audit
    if audit is not None:
        under = replace(under, corrected=_corrected_words(audit.under_refusal))
        over = replace(over, corrected=_corrected_words(audit.over_refusal))
    return (
        _or_one_sided(policy, under, "unsafe"),
        _or_one_sided(policy, over, "safe"),
        _figure(policy, "accuracy", estimates.accuracy, Measure.ACCURACY),
    )


def span_of_rates(policies: Sequence[PolicyReport]) -> float:
    """Return where a scale from 0 may end that shows both rates of all policies with intervals."""
    ends = [
        min(figure.interval.upper, 1.0)
        for policy in policies
        for figure in rate_figures(policy)[:2]
        if figure.interval is not None
    ]
    return next(span for span in (0.1, 0.2, 0.5, 1.0) if span >= max(ends, default=1.0))


def bare_ece(policy: PolicyReport) -> Figure:
    """Return the ECE without what takes resampling: its interval, and its level by chance."""
    value = policy.tally.ece(policy.ece_bins)
    return Figure(
        name="ECE", value=value, words=number(value), ruling=_ruling_on(policy, Measure.ECE)
    )


def category_figures(policy: PolicyReport) -> tuple[CategoryFigures, ...]:
    """Return the rates of every category, by name."""
    under = policy.estimates.under_refusal_by_category
    over = policy.estimates.over_refusal_by_category

    def figure(
        name: str, estimates: Mapping[str, Estimate], measure: Measure, category: str
    ) -> Figure | None:
        if category not in estimates:
            return None
        return _figure(policy, name, estimates[category], measure, category)

    return tuple(
        CategoryFigures(
            category=category,
            under=figure("under-refusal", under, Measure.UNDER_REFUSAL, category),
            over=figure("over-refusal", over, Measure.OVER_REFUSAL, category),
        )
        for category in sorted({*under, *over})
    )


def gate_words(policy: PolicyReport) -> str:
    """Say whether the gate of one policy passed."""
    gate = policy.gate
    if gate.passed is None:
        return f"not ruled on: {gate.why_not}"
    return "passed" if gate.passed else "FAILED"


def decision(report: Report, reasons: Sequence[str] | None = None) -> Decision:
    """Say what decides about the run.

    reasons: why the session fails, where that is known better than by the report.
    """
    why = reasons if reasons is not None else report.reasons
    if why is None:
        why = [f"{p.policy}: the gate failed" for p in report.policies if p.gate.passed is False]
    # The whole run is a part, or stopped, for all its policies alike.
    of_a_part = next((p.gate.why_not for p in report.policies), None)
    rest = "" if of_a_part in (None, NO_CEILING) else f"; {of_a_part}"
    if why:
        rest += ", ceilings are not ruled on" if rest else ""
        return Decision(failed=True, words="; ".join(why) + rest)
    if not any(policy.gate.passed is not None for policy in report.policies):
        return Decision(failed=False, words=f"nothing failed{rest}")
    failed = sum(p.tally.fn + p.tally.fp for p in report.policies)
    unevaluated = sum(p.unevaluated for p in report.policies)
    tolerated = [
        count(n, noun)
        for n, noun in ((failed, "failed prompt"), (unevaluated, "unevaluated prompt"))
        if n
    ]
    within = f"; {' and '.join(tolerated)}, within ceilings" if tolerated else ""
    return Decision(failed=False, words=f"gate passed{within}")


def failures(policy: PolicyReport) -> tuple[Outcome, ...]:
    """Return what went wrong: under-refusals, over-refusals, unevaluated; the severe ones first."""
    order = {Cell.FN: 0, Cell.FP: 1, None: 2}
    found: list[tuple[int, int, Outcome]] = []
    for outcome in policy.outcomes:
        cell = outcome.cell if isinstance(outcome, Evaluated) else None
        if cell in order:
            found.append((order[cell], -(outcome.trial.prompt.severity or 0), outcome))
    return tuple(outcome for _, _, outcome in sorted(found, key=lambda item: item[:2]))


def reliability(policy: PolicyReport) -> tuple[CalibrationBin, ...]:
    """Return the bins of the stated confidences."""
    stated = policy.calibration().everything.stated
    return () if stated is None else stated.bins


def bin_interval(one: CalibrationBin, confidence_level: float) -> Interval:
    """Return the range in which the true accuracy of a bin may lie."""
    interval = one.accuracy_interval(confidence_level)
    if interval is None:
        msg = f"an empty bin: {one}"
        raise ValueError(msg)
    return interval


class Leaning(StrEnum):
    """How the confidence of a bin stands to its accuracy."""

    AS_STATED = "as stated"
    OVER = "over-confident"
    UNDER = "under-confident"


def leaning(one: CalibrationBin, confidence_level: float) -> Leaning:
    """Say how a bin leans; a gap that chance explains is none."""
    if bin_interval(one, confidence_level).holds(one.mean_confidence):
        return Leaning.AS_STATED
    return Leaning.OVER if one.gap > 0 else Leaning.UNDER


def calibration_words(policy: PolicyReport) -> tuple[str, ...]:
    """Say which bins are farther from their confidence than chance explains."""
    bins = reliability(policy)
    if not bins:
        return ("No confidence was stated.",)
    found = []
    for one in bins:
        leans = leaning(one, policy.confidence_level)
        if leans is Leaning.AS_STATED:
            continue
        found.append(
            f"{leans.capitalize()} from {number(one.lower)} to {number(one.upper)}: stated"
            f" {number(one.mean_confidence)} on average, right in {one.correct} of {one.count}"
            f" = {number(one.accuracy)}."
        )
    return tuple(found) or ("In no bin is the gap larger than chance explains.",)


def calibration_groups(policy: PolicyReport) -> tuple[tuple[str, GroupCalibration], ...]:
    """Return the calibration of the whole and of each verdict and label."""
    found = policy.calibration()
    return (
        ("all outcomes", found.everything),
        ("refusals", found.refusals),
        ("answers", found.answers),
        ("unsafe prompts", found.unsafe),
        ("safe prompts", found.safe),
    )


def interval_words(interval: Interval | None) -> str:
    """Write an interval as "0.033 to 0.343"; "" without one."""
    if interval is None:
        return ""
    return f"{number(interval.lower)} to {number(interval.upper)}"


def count(n: int, noun: str) -> str:
    """Write a number with its noun."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _figure(
    policy: PolicyReport,
    name: str,
    estimate: Estimate,
    measure: Measure,
    category: str | None = None,
) -> Figure:
    return Figure(
        name=name,
        value=estimate.rate.value,
        words=fraction(estimate.rate),
        rate=estimate.rate,
        interval=estimate.interval,
        ruling=_ruling_on(policy, measure, category),
    )


def _or_one_sided(policy: PolicyReport, figure: Figure, label: str) -> Figure:
    rate = figure.rate
    if rate is None or rate.denominator + rate.unevaluated:
        return figure
    whole = len(policy.outcomes) == policy.collected
    what = f"there is no {label} prompt" if whole else f"no {label} prompt was run"
    return replace(figure, words=f"{NO_DATA}: {what}", corrected="")


def _corrected_words(rate: CorrectedRate | None) -> str:
    if rate is None:
        return f"{NO_DATA}: too few read to tell"
    few = "" if rate.enough else "; too few read"
    return f"{number(rate.rate)}; {interval_text(rate.interval)}{few}"


def _ruling_on(
    policy: PolicyReport, measure: Measure, category: str | None = None
) -> Ruling | None:
    for ruling in policy.gate.rulings:
        if ruling.ceiling.key == (measure, category):
            return ruling
    return None


def _ece_words(policy: PolicyReport) -> str:
    tally, group = policy.tally, policy.calibration().everything
    total = tally.stated + tally.missing_confidence
    stated = f"{tally.stated} of {total} stated a confidence"
    if group.ece is None:
        return f"{NO_DATA} ({stated})"
    alone = ""
    if tally.missing_confidence:
        alone = f"; over those alone {number(tally.ece_stated(policy.ece_bins))}"
    return (
        f"{number(group.ece)} ({stated}{alone}; by chance alone {number(group.ece_chance_level)})"
    )
