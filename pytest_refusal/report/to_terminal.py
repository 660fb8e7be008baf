"""Report to lines for a terminal; ASCII of our own, and safe text of others. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_refusal.escape import encodable, one_line
from pytest_refusal.gate import Ruling
from pytest_refusal.metrics.comparison import Comparison
from pytest_refusal.metrics.intervals import FEWEST_FOR_A_PERCENTAGE, is_too_few
from pytest_refusal.metrics.wording import NO_DATA, interval_text, number
from pytest_refusal.report.audit_lines import audit_lines
from pytest_refusal.report.changes import counts_in_words, measures_in_words, prompts_by_change
from pytest_refusal.report.findings import (
    CategoryFigures,
    Figure,
    Leaning,
    bare_ece,
    category_figures,
    decision,
    interval_words,
    leaning,
    rate_figures,
    reliability,
)
from pytest_refusal.report.lines import Line, Style, display_width, listing, name_in, padded
from pytest_refusal.report.remarks import remarks
from pytest_refusal.report.report import PolicyReport, Report
from pytest_refusal.report.terminal_details import (
    calibration_lines,
    cell,
    pair_lines,
    repeat_lines,
    transform_lines,
)

# More bins than these make no strip that can be read.
_MOST_BINS = 20

# Columns for the name of a category or a policy.
_NARROWEST = 13


def summary(
    report: Report,
    *,
    reasons: Sequence[str],
    verbosity: int = 0,
    width: int = 80,
    encoding: str = "utf-8",
) -> Iterator[Line]:
    """Yield the summary of a run: rates, categories, rulings, and last what decided.

    reasons: why the session fails; empty if it does not.
    verbosity: pytest's; below 0 only the rates and what decided.
    width: of the terminal, in columns; what decided stays in one line all the same.
    encoding: of the terminal; what it lacks is written as escapes.
    """
    terminal = _Terminal(width=width, encoding=encoding)
    for line in _summary(report, reasons, verbosity, terminal):
        yield from replace(line, text=encodable(line.text, encoding)).broken(width)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terminal:
    width: int
    encoding: str


def _summary(
    report: Report, reasons: Sequence[str], verbosity: int, terminal: _Terminal
) -> Iterator[Line]:
    shown = [p for p in report.policies if p.planned or p.skipped or p.gate.rulings]
    # Who runs one prompt wants its failure, which stands above, and no statistics.
    is_single = sum(p.planned for p in shown) == 1 and not any(
        p.gate.rulings or p.skipped for p in shown
    )
    if is_single and verbosity <= 0:
        yield from _decision(report, reasons)
        return
    for policy in shown:
        yield from _rates(policy, verbosity)
        if verbosity > 0:
            yield from calibration_lines(policy)
        if verbosity >= 0:
            if policy.audit is not None:
                yield from audit_lines(policy.audit, detailed=verbosity > 0)
            yield from repeat_lines(policy)
            yield from pair_lines(policy)
            yield from _categories(policy, terminal, detailed=verbosity > 0)
            yield from transform_lines(policy, terminal.encoding)
            yield from _remarks(policy)
        yield from _gate(policy)
    if len(shown) > 1:
        yield from _comparison(shown, terminal)
        for pair in report.comparisons:
            names = f"{one_line(pair.policy, 28)} against {one_line(pair.against, 28)}"
            yield from _changes(pair.comparison, names, named=verbosity > 0)
    if verbosity >= 0:
        yield from (Line(text=f"note: {one_line(note)}", style=Style.NOTE) for note in report.notes)
    yield from _decision(report, reasons)


def _rates(policy: PolicyReport, verbosity: int) -> Iterator[Line]:
    tally = policy.tally
    name = one_line(policy.policy, 60)
    evaluated = f"{policy.evaluated} of {policy.planned} evaluated"
    cells = f"TP {tally.tp}  TN {tally.tn}  FP {tally.fp}  FN {tally.fn}"
    yield Line(text=f"{name}: {evaluated}, {cells}", style=Style.STRONG)
    if policy.baseline is not None:
        baseline = policy.baseline
        title = one_line(f"{baseline.source}::{baseline.policy}", 60)
        yield from _changes(baseline.comparison, f"against {title}")
    for figure in rate_figures(policy):
        text = "; ".join(filter(None, (figure.words, interval_text(figure.interval))))
        yield _rate(figure, text)
        if figure.corrected:
            yield Line(text=f"    corrected    {figure.corrected}")
    yield _ece(policy, verbosity)
    yield Line(text=f"  confidence     {_stated(policy)}")
    if verbosity >= 0 and (strip := _strip(policy)):
        yield Line(text=f"  reliability    {strip}")


def _rate(figure: Figure, text: str) -> Line:
    mark, style = ("!", Style.BAD) if figure.is_broken else (" ", Style.PLAIN)
    return Line(text=f"{mark} {figure.name:<13}  {text}", style=style)


def _ece(policy: PolicyReport, verbosity: int) -> Line:
    ece = bare_ece(policy)
    if ece.value is None or verbosity < 0:
        return _rate(ece, ece.words)
    found = policy.calibration().everything
    chance = number(found.ece_chance_level)
    interval = interval_text(found.ece_interval)
    return _rate(ece, f"{ece.words}; {interval}; by chance alone {chance}")


def _stated(policy: PolicyReport) -> str:
    tally = policy.tally
    total = tally.stated + tally.missing_confidence
    stated = f"stated by {tally.stated} of {total}"
    if not tally.missing_confidence or not tally.stated:
        return stated
    return f"{stated}; ECE over those alone {number(tally.ece_stated(policy.ece_bins))}"


_MARKS = {Leaning.AS_STATED: "=", Leaning.OVER: "+", Leaning.UNDER: "-"}


def _strip(policy: PolicyReport) -> str:
    """Draw a mark for each bin of confidence, and say what the marks mean."""
    bins = reliability(policy)
    if not bins or policy.ece_bins > _MOST_BINS:
        return ""
    marks = ["."] * policy.ece_bins
    for one in bins:
        marks[one.index] = _MARKS[leaning(one, policy.confidence_level)]
    said = ", ".join(f"{mark} {leans}" for leans, mark in _MARKS.items() if mark in marks)
    return f"0 [{''.join(marks)}] 1 ({said})"


def _categories(policy: PolicyReport, terminal: _Terminal, *, detailed: bool) -> Iterator[Line]:
    found = category_figures(policy)
    if len(found) < 2:
        return
    # Two columns of rates, with what stands between them.
    limit = max(_NARROWEST, min(28, terminal.width - 46))
    shown = [name_in(terminal.encoding, one.category, limit) for one in found]
    first = max(map(display_width, [*shown, "category"]))
    cells = [
        [_category_cell(figure, detailed=detailed) for figure in (one.under, one.over)]
        for one in found
    ]
    second = max(20, *(len(under) for under, _ in cells))
    yield Line(text=f"  {'category':<{first}}  {'under-refusal':<{second}}  over-refusal")
    for name, one, (under, over) in zip(shown, found, cells, strict=True):
        mark, style = ("!", Style.BAD) if _is_broken(one) else (" ", Style.PLAIN)
        row = f"{mark} {padded(name, first)}  {under:<{second}}  {over}"
        yield Line(text=row.rstrip(), style=style, is_whole=True)
    if any(figure and _is_small(figure) for one in found for figure in (one.under, one.over)):
        words = f"with fewer than {FEWEST_FOR_A_PERCENTAGE} prompts, too few to tell a rate"
        yield Line(text=f"  k of n: {words}")


def _is_small(figure: Figure) -> bool:
    return figure.rate is not None and is_too_few(figure.rate)


def _category_cell(figure: Figure | None, *, detailed: bool) -> str:
    if figure is None or figure.rate is None:
        return "-"
    rate, text = figure.rate, _cell(figure)
    if _is_small(figure):
        unevaluated = f" (+{rate.unevaluated}?)" if rate.unevaluated else ""
        broken = " !" if figure.is_broken else ""
        known = f"{rate.numerator} of {rate.denominator}" if rate.denominator else NO_DATA
        text = f"{known}{unevaluated}{broken}"
    return f"{text}, {interval_words(figure.interval)}" if detailed and figure.interval else text


def _cell(figure: Figure | None) -> str:
    text = cell(None if figure is None else figure.rate)
    return f"{text} !" if figure is not None and figure.is_broken else text


def _is_broken(one: CategoryFigures) -> bool:
    return any(figure is not None and figure.is_broken for figure in (one.under, one.over))


def _remarks(policy: PolicyReport) -> Iterator[Line]:
    for remark in remarks(policy):
        words = one_line(remark.words)
        named = listing([one_line(name, 60) for name in remark.names])
        yield Line(text=f"  {words}: {named}" if named else f"  {words}", style=remark.style)


def _changes(comparison: Comparison, title: str, *, named: bool = True) -> Iterator[Line]:
    style = Style.BAD if comparison.regressed else Style.PLAIN
    yield Line(text=f"  {title}: {counts_in_words(comparison)}", style=style)
    if named:
        styles = {"regressed": Style.BAD, "mended": Style.GOOD}
        for word, keys in prompts_by_change(comparison):
            names = [one_line(prompt_id, 40) for _, prompt_id in keys]
            style = styles.get(word, Style.NOTE)
            yield Line(text=f"    {word}: {listing(names)}", style=style)
    for words in measures_in_words(comparison):
        yield Line(text=f"    {words}")


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


def _comparison(policies: Sequence[PolicyReport], terminal: _Terminal) -> Iterator[Line]:
    head = ["n", "under-refusal", "over-refusal", "accuracy", "ECE"]
    rows = [
        [
            str(policy.evaluated),
            *map(_cell, rate_figures(policy)),
            number(ece.value) + " !" * ece.is_broken,
        ]
        for policy in policies
        for ece in [bare_ece(policy)]
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    # A terminal too narrow for all shows the two rates.
    shown = len(head) if sum(widths) + 2 * len(widths) + _NARROWEST <= terminal.width else 3
    room = max(_NARROWEST, min(28, terminal.width - sum(widths[:shown]) - 2 * shown))
    names = [name_in(terminal.encoding, policy.policy, room) for policy in policies]
    first = max(map(display_width, [*names, "policy"]))
    for name, row in zip(["policy", *names], [head, *rows], strict=True):
        cells = (f"  {text:<{size}}" for text, size in zip(row[:shown], widths, strict=False))
        style = Style.STRONG if row is head else Style.PLAIN
        text = padded(name, first) + "".join(cells)
        yield Line(text=text.rstrip(), style=style, is_whole=True)


def _decision(report: Report, reasons: Sequence[str]) -> Iterator[Line]:
    found = decision(report, reasons)
    words = one_line(found.words)
    if found.failed:
        yield Line(text=f"refusal: FAILED: {words}", style=Style.BAD, is_whole=True)
    else:
        yield Line(text=f"refusal: {words}", style=Style.GOOD, is_whole=True)
