"""Report to lines for a terminal; ASCII of our own, and safe text of others. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_refusal.escape import one_line
from pytest_refusal.gate import Ruling
from pytest_refusal.metrics.calibration_summary import CalibrationSummary, calibrate
from pytest_refusal.metrics.comparison import Comparison
from pytest_refusal.metrics.estimates import Estimate
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.metrics.wording import NO_DATA, fraction, interval_text, number, p_value_text
from pytest_refusal.report.report import PolicyReport, Report

_MOST_NAMED = 10


class Style(StrEnum):
    """How a line stands out; each also says in words what its colour says."""

    PLAIN = "plain"
    STRONG = "strong"
    GOOD = "good"
    BAD = "bad"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the summary."""

    text: str
    style: Style = Style.PLAIN


def summary(report: Report, *, reasons: Sequence[str], verbosity: int = 0) -> Iterator[Line]:
    """Yield the summary of a run: rates, categories, rulings, and last what decided.

    reasons: why the session fails; empty if it does not.
    verbosity: pytest's; below 0 only the rates and what decided.
    """
    shown = [p for p in report.policies if p.planned or p.skipped or p.gate.rulings]
    for policy in shown:
        yield from _rates(policy, verbosity)
        if policy.baseline is not None:
            baseline = policy.baseline
            name = one_line(f"{baseline.source}::{baseline.policy}", 60)
            yield from _changes(baseline.comparison, f"against {name}")
        if verbosity > 0:
            yield from _calibration(policy.calibration())
        if verbosity >= 0:
            yield from _repeats(policy)
            yield from _pairs(policy)
            yield from _categories(policy)
            yield from _transforms(policy)
            yield from _remarks(policy)
        yield from _gate(policy)
    if len(shown) > 1:
        yield from _comparison(report.policies)
        for pair in report.comparisons:
            names = f"{one_line(pair.policy, 28)} against {one_line(pair.against, 28)}"
            yield from _changes(pair.comparison, names, named=verbosity > 0)
    if verbosity >= 0:
        yield from (Line(text=f"note: {one_line(note)}", style=Style.NOTE) for note in report.notes)
    yield from _decision(report, reasons)


def _rates(policy: PolicyReport, verbosity: int) -> Iterator[Line]:
    tally, estimates = policy.tally, policy.estimates
    name = one_line(policy.policy, 60)
    evaluated = f"{policy.evaluated} of {policy.planned} evaluated"
    cells = f"TP {tally.tp}  TN {tally.tn}  FP {tally.fp}  FN {tally.fn}"
    yield Line(text=f"{name}: {evaluated}, {cells}", style=Style.STRONG)
    yield Line(text=f"  under-refusal  {_or_one_sided(policy, estimates.under_refusal, 'unsafe')}")
    yield Line(text=f"  over-refusal   {_or_one_sided(policy, estimates.over_refusal, 'safe')}")
    yield Line(text=f"  accuracy       {_with_interval(estimates.accuracy)}")
    yield Line(text=f"  ECE            {_ece(policy, verbosity)}")
    yield Line(text=f"  confidence     {_stated(policy)}")


def _or_one_sided(policy: PolicyReport, estimate: Estimate, label: str) -> str:
    rate = estimate.rate
    if rate.denominator + rate.unevaluated == 0:
        whole = len(policy.outcomes) == policy.collected
        what = f"there is no {label} prompt" if whole else f"no {label} prompt was run"
        return f"{NO_DATA}: {what}"
    return _with_interval(estimate)


def _with_interval(estimate: Estimate) -> str:
    return "; ".join(filter(None, (fraction(estimate.rate), interval_text(estimate.interval))))


def _ece(policy: PolicyReport, verbosity: int) -> str:
    ece = policy.tally.ece(policy.ece_bins)
    if ece is None or verbosity < 0:
        return number(ece)
    group = calibrate(policy.outcomes, policy.ece_bins)
    chance = number(group.ece_chance_level)
    return f"{number(ece)}; {interval_text(group.ece_interval)}; by chance alone {chance}"


def _stated(policy: PolicyReport) -> str:
    tally = policy.tally
    total = tally.stated + tally.missing_confidence
    stated = f"stated by {tally.stated} of {total}"
    if not tally.missing_confidence or not tally.stated:
        return stated
    return f"{stated}; ECE over those alone {number(tally.ece_stated(policy.ece_bins))}"


def _calibration(calibration: CalibrationSummary) -> Iterator[Line]:
    stated = calibration.everything.stated
    if stated is None:
        return
    brier = stated.brier
    parts = (
        f"reliability {number(brier.reliability)}, resolution {number(brier.resolution)},"
        f" uncertainty {number(brier.uncertainty)}"
    )
    yield Line(
        text=f"  Brier          {number(brier.score)}; {interval_text(stated.intervals.brier)}"
        f" ({parts})"
    )
    adaptive = stated.adaptive_ece
    yield Line(
        text=f"  adaptive ECE   {number(adaptive.error)} in {_count(adaptive.bins, 'bin')};"
        f" {interval_text(stated.intervals.adaptive_ece)}"
    )
    clipped = stated.log_loss.clipped
    note = f" ({_count(clipped, 'certain mistake')} clipped)" if clipped else ""
    yield Line(text=f"  log loss       {number(stated.log_loss.loss)}{note}")
    if stated.debiased is not None:
        alone = stated.debiased.left_out
        note = f" ({_count(alone, 'outcome')} alone in their bin left out)" if alone else ""
        yield Line(text=f"  debiased       {number(stated.debiased.squared)}, squared error{note}")
    yield Line(text=f"  MCE            {number(stated.mce)}")
    for part in stated.bins:
        word = "over-confident" if part.gap > 0 else "under-confident"
        if part.gap:
            yield Line(
                text=f"  {number(part.lower)} to {number(part.upper)}: says"
                f" {number(part.mean_confidence)}, right {part.correct}/{part.count}"
                f" = {number(part.accuracy)}, {word}"
            )
    groups = {
        "refusals": calibration.refusals,
        "answers": calibration.answers,
        "unsafe prompts": calibration.unsafe,
        "safe prompts": calibration.safe,
    }
    said = (f"{name} {number(group.ece)}" for name, group in groups.items())
    yield Line(text=f"  ECE of         {', '.join(said)}")


def _repeats(policy: PolicyReport) -> Iterator[Line]:
    repeats = policy.repeats()
    if repeats is None:
        return
    k = repeats.k
    yield Line(
        text=f"  of {k} samples  any leaks {number(repeats.any_of_k_under_refusal)}, any declines"
        f" {number(repeats.any_of_k_over_refusal)}, always right {number(repeats.always_right)}"
    )
    wrong = [one_line(prompt.prompt_id, 40) for prompt in repeats.always_wrong]
    if wrong:
        yield Line(text=f"  {len(wrong)} always wrong: {_listing(wrong)}", style=Style.BAD)
    unsteady = [
        f"{one_line(prompt.prompt_id, 40)} ({prompt.declined}/{prompt.samples} refused)"
        for prompt in repeats.unsteady
    ]
    if unsteady:
        yield Line(text=f"  {len(unsteady)} unsteady: {_listing(unsteady)}", style=Style.NOTE)


def _categories(policy: PolicyReport) -> Iterator[Line]:
    under = policy.tally.under_refusal_by_category
    over = policy.tally.over_refusal_by_category
    names = sorted({*under, *over})
    if len(names) < 2:
        return
    shown = {name: one_line(name, 28) for name in names}
    width = max(map(len, [*shown.values(), "category"]))
    yield Line(text=f"  {'category':<{width}}  {'under-refusal':<20}  over-refusal")
    for name in names:
        cells = (_cell(under.get(name)), _cell(over.get(name)))
        yield Line(text=f"  {shown[name]:<{width}}  {cells[0]:<20}  {cells[1]}".rstrip())


def _pairs(policy: PolicyReport) -> Iterator[Line]:
    pairs = policy.pairs()
    if pairs is None:
        return
    both = (
        f"both right {_cell(pairs.right)}, both refused {_cell(pairs.rate_of(pairs.both_refused))},"
        f" both answered {_cell(pairs.rate_of(pairs.both_answered))}"
    )
    yield Line(text=f"  pairs          {both}")


def _transforms(policy: PolicyReport) -> Iterator[Line]:
    tallies = policy.by_transform()
    if not tallies:
        return
    width = max(map(len, [*tallies, "transform"]))
    yield Line(text=f"  {'transform':<{width}}  {'under-refusal':<20}  over-refusal")
    for name, tally in tallies.items():
        under, over = _cell(tally.under_refusal), _cell(tally.over_refusal)
        yield Line(text=f"  {name:<{width}}  {under:<20}  {over}")


def _cell(rate: Rate | None) -> str:
    if rate is None:
        return "-"
    text = f"{rate.numerator}/{rate.denominator}"
    if rate.value is not None:
        text += f" = {number(rate.value)}"
    return text if not rate.unevaluated else f"{text} (+{rate.unevaluated}?)"


def _remarks(policy: PolicyReport) -> Iterator[Line]:
    tally = policy.tally
    if partial := tally.partial_refusal.numerator:
        yield Line(text=f"  {_count(partial, 'partial refusal')}, counted as refusals")
    if tally.filtered:
        yield Line(text=f"  {_count(tally.filtered, 'refusal')} by the provider's filter")
    if policy.reduced:
        prompts = _count(policy.reduced, "multi-turn prompt")
        yield Line(text=f"  {prompts} reduced to their last message", style=Style.NOTE)
    if policy.reran:
        yield Line(text=f"  {_count(policy.reran, 'outcome')} needed reruns", style=Style.NOTE)
    if policy.unused:
        fit = "response fits" if len(policy.unused) == 1 else "responses fit"
        named = [one_line(name, 60) for name in policy.unused]
        text = f"  {len(named)} recorded {fit} no prompt: {_listing(named)}"
        yield Line(text=text, style=Style.NOTE)
    if policy.unevaluated:
        kinds = ", ".join(f"{n} {one_line(reason)}" for reason, n in sorted(tally.reasons.items()))
        text = f"  {policy.unevaluated} unevaluated of {policy.planned}: {kinds}"
        yield Line(text=text, style=Style.BAD)
    if policy.skipped:
        named = [
            f"{one_line(s.trial.prompt.id, 40)} ({one_line(s.why, 60)})" for s in policy.skipped
        ]
        yield Line(text=f"  {len(named)} skipped: {_listing(named)}", style=Style.NOTE)
    if policy.not_run:
        named = [one_line(trial.prompt.id, 40) for trial in policy.not_run]
        yield Line(text=f"  {len(named)} not run: {_listing(named)}", style=Style.BAD)


def _changes(comparison: Comparison, title: str, *, named: bool = True) -> Iterator[Line]:
    regressed, mended = len(comparison.regressed), len(comparison.mended)
    left_out = {
        "new": comparison.added,
        "removed": comparison.removed,
        "changed": comparison.changed,
        "unevaluated in one": comparison.unevaluated,
    }
    apart = ", ".join(f"{len(keys)} {word}" for word, keys in left_out.items() if keys)
    counts = f"{regressed} regressed, {mended} mended of {comparison.compared}"
    yield Line(
        text=f"  {title}: {counts}" + (f" ({apart} left out)" if apart else ""),
        style=Style.BAD if regressed else Style.PLAIN,
    )
    if named and regressed:
        names = [one_line(prompt_id, 40) for _, prompt_id in comparison.regressed]
        yield Line(text=f"    regressed: {_listing(names)}", style=Style.BAD)
    if named and mended:
        names = [one_line(prompt_id, 40) for _, prompt_id in comparison.mended]
        yield Line(text=f"    mended: {_listing(names)}", style=Style.GOOD)
    if named:
        for word, keys in left_out.items():
            if keys:
                names = [one_line(prompt_id, 40) for _, prompt_id in keys]
                yield Line(text=f"    {word}: {_listing(names)}", style=Style.NOTE)
    for name, change in (
        ("under-refusal", comparison.under_refusal),
        ("over-refusal", comparison.over_refusal),
    ):
        if change.increase is not None and change.p_value is not None:
            before, after = _cell(change.before), _cell(change.after)
            chance = "no evidence of a change" if change.p_value > 0.05 else "beyond chance"
            yield Line(
                text=f"    {name} {before} to {after}: {chance}, {p_value_text(change.p_value)};"
                f" {change.increase:+.3f}, {interval_text(change.interval)}"
            )
    ece = comparison.ece
    if ece.increase is not None:
        yield Line(
            text=f"    ECE {number(ece.before)} to {number(ece.after)}: {ece.increase:+.3f},"
            f" {interval_text(ece.interval)}"
        )


def _gate(policy: PolicyReport) -> Iterator[Line]:
    gate = policy.gate
    for ruling in gate.rulings:
        yield _ruling(ruling)
    for limit in gate.regression:
        word, style = ("ok  ", Style.GOOD) if limit.held else ("FAIL", Style.BAD)
        yield Line(text=f"  {word} regression {limit.name}: {limit.reason}", style=style)
    if not gate.rulings and gate.why_not is not None:
        yield Line(text=f"  not ruled on: {gate.why_not}", style=Style.NOTE)


def _ruling(ruling: Ruling) -> Line:
    word = "ok  " if ruling.held else "FAIL"
    kind = "floor  " if ruling.ceiling.measure.is_floor else "ceiling"
    name = one_line(ruling.ceiling.name, 60)
    return Line(
        text=f"  {word} {kind} {name}: {ruling.reason}",
        style=Style.GOOD if ruling.held else Style.BAD,
    )


def _comparison(policies: Sequence[PolicyReport]) -> Iterator[Line]:
    names = [one_line(policy.policy, 28) for policy in policies]
    width = max(map(len, [*names, "policy"]))
    head = f"{'policy':<{width}}  {'n':>5}  {'under-refusal':<16}  {'over-refusal':<16}"
    yield Line(text=f"{head}  {'accuracy':<16}  ECE", style=Style.STRONG)
    for name, policy in zip(names, policies, strict=True):
        tally = policy.tally
        rates = (tally.under_refusal, tally.over_refusal, tally.accuracy)
        row = f"{name:<{width}}  {policy.evaluated:>5}  " + "  ".join(
            f"{_cell(rate):<16}" for rate in rates
        )
        yield Line(text=f"{row}  {number(tally.ece(policy.ece_bins))}")


def _decision(report: Report, reasons: Sequence[str]) -> Iterator[Line]:
    if reasons:
        text = "; ".join(map(one_line, reasons))
        yield Line(text=f"refusal: FAILED: {text}", style=Style.BAD)
        return
    failed = sum(p.tally.fn + p.tally.fp for p in report.policies)
    unevaluated = sum(p.unevaluated for p in report.policies)
    passed = [p.gate.passed for p in report.policies if p.gate.passed is not None]
    if not passed:
        partial = [p.gate.why_not for p in report.policies if p.planned < p.collected]
        text = "nothing failed" if not partial else f"nothing failed; {partial[0]}"
        yield Line(text=f"refusal: {text}", style=Style.GOOD)
        return
    tolerated = [
        _count(n, noun)
        for n, noun in ((failed, "failed prompt"), (unevaluated, "unevaluated prompt"))
        if n
    ]
    within = f"; {' and '.join(tolerated)}, within ceilings" if tolerated else ""
    yield Line(text=f"refusal: gate passed{within}", style=Style.GOOD)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _listing(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
