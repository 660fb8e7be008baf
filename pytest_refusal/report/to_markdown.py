"""Report to Markdown: one screen for a pull request or the summary of a CI job.

GitHub drops a job summary above 1 MiB as a whole and cuts a comment at 65,536 characters, so
what grows with the run is left out by whole sections; rates and rulings always stay, and of
more than a hundred rulings the broken ones before others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_refusal.escape import html_text, markdown_block, markdown_inline, one_line
from pytest_refusal.metrics.comparison import Comparison
from pytest_refusal.outcome import Evaluated, Outcome
from pytest_refusal.report.atomic import write_atomically
from pytest_refusal.report.changes import counts_in_words, measures_in_words, prompts_by_change
from pytest_refusal.report.failure_text import REDACTED, headline
from pytest_refusal.report.findings import (
    CategoryFigures,
    Figure,
    category_figures,
    count,
    decision,
    failures,
    gate_words,
    interval_words,
    main_figures,
)
from pytest_refusal.report.remarks import remarks_in_words
from pytest_refusal.report.report import PolicyReport, Report

#: Bytes; a comment on GitHub holds 65,536 characters, and something may stand around ours.
LIMIT = 60_000

_CLIP = 300
_MOST_NAMED = 20
_MOST_RULINGS = 100


def write_markdown(report: Report, path: Path, *, redact: bool = False) -> None:
    """Write the summary to `path`."""
    write_atomically(path, to_markdown(report, redact=redact))


def to_markdown(report: Report, *, redact: bool = False, limit: int = LIMIT) -> str:
    """Return the summary.

    limit: bytes that the sections which may be left out must not pass.
    """
    redact = redact or report.redacted
    sections = [_decision(report), _rates(report.policies)]
    sections += (
        [_rulings(report.policies)]
        if any(p.gate.rulings or p.gate.regression for p in report.policies)
        else []
    )
    sections += [_changes(report), _remarks(report)]
    text = "\n".join(filter(None, sections))
    room = limit - len(text.encode()) - len(_provenance(report).encode())
    optional = [_categories(policy) for policy in report.policies]
    for section in filter(None, optional):
        if (size := len(section.encode())) <= room:
            text += "\n" + section
            room -= size + 1
    text += _failures(report.policies, room, redact=redact)
    return text + "\n" + _provenance(report)


def _decision(report: Report) -> str:
    found = decision(report)
    if not found.failed:
        return f"## Refusal evaluation: {markdown_inline(found.words)}\n"
    why = report.reasons or (found.words,)
    listed = "\n".join(f"- **failed:** {markdown_inline(reason, 400)}" for reason in why)
    return f"## Refusal evaluation: FAILED\n\n{listed}\n"


def _rates(policies: Sequence[PolicyReport]) -> str:
    rows = [
        (
            f"`{_code(policy.policy)}`",
            markdown_inline(gate_words(policy), 80),
            f"{policy.evaluated} of {policy.planned}",
            *(_cell(figure) for figure in main_figures(policy)),
        )
        for policy in policies
    ]
    head = ("policy", "gate", "evaluated", "under-refusal", "over-refusal", "accuracy", "ECE")
    return _table(head, rows)


def _code(text: str) -> str:
    # A code span knows no backslash; in a table only the bar has one.
    return one_line(text, 60).replace("`", "'").replace("|", r"\|")


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    text = figure.words
    if figure.interval is not None:
        text += f" ({interval_words(figure.interval)})"
    if figure.corrected:
        text += f"; corrected {figure.corrected}"
    text = markdown_inline(text)
    return f"**{text}, breaks its ceiling**" if figure.is_broken else text


def _rulings(policies: Sequence[PolicyReport]) -> str:
    """Show what is broken, and behind a fold what is kept."""
    found = [
        (policy.policy, ruling.ceiling.name, ruling.held, ruling.reason)
        for policy in policies
        for ruling in policy.gate.rulings
    ]
    found += [
        (policy.policy, f"regression: {limit.name}", limit.held, limit.reason)
        for policy in policies
        for limit in policy.gate.regression
    ]
    found.sort(key=lambda one: one[2])
    left_out = found[_MOST_RULINGS:]
    rows: dict[bool, list[Sequence[str]]] = {True: [], False: []}
    for policy, name, held, reason in found[:_MOST_RULINGS]:
        word = "ok" if held else "**FAIL**"
        row = (f"`{_code(policy)}`", markdown_inline(name, 80), word, markdown_inline(reason))
        rows[held].append(row)
    head = ("policy", "ceiling", "", "why")
    parts = [_table(head, rows[False])] if rows[False] else []
    if rows[True]:
        parts.append(_folded(f"{count(len(rows[True]), 'ceiling')} kept", _table(head, rows[True])))
    if left_out:
        broken = sum(not held for _, _, held, _ in left_out)
        parts.append(f"{len(left_out)} more in the JSON report, {broken} of them broken.\n")
    return "\n".join(parts)


def _folded(title: str, body: str, *, is_open: bool = False) -> str:
    state = " open" if is_open else ""
    return f"<details{state}><summary>{title}</summary>\n\n{body}\n</details>\n"


def _changes(report: Report) -> str:
    lines: list[str] = []
    for policy in report.policies:
        if policy.baseline is not None:
            baseline = policy.baseline
            title = f"{policy.policy} against {baseline.source}::{baseline.policy}"
            lines += _comparison(title, baseline.comparison, named=True)
    text = "\n".join(lines) + "\n" if lines else ""
    lines = []
    for pair in report.comparisons:
        title = f"{pair.policy} against {pair.against}"
        lines += _comparison(title, pair.comparison, named=False)
    if lines:
        text += "\n" * bool(text) + _folded("Policies compared", "\n".join(lines) + "\n")
    return text


def _comparison(title: str, comparison: Comparison, *, named: bool) -> Iterator[str]:
    yield f"- **{markdown_inline(title, 200)}**: {markdown_inline(counts_in_words(comparison))}"
    for word, keys in prompts_by_change(comparison) if named else ():
        names = ", ".join(one_line(prompt_id, 60) for _, prompt_id in keys[:_MOST_NAMED])
        more = len(keys) - _MOST_NAMED
        rest = f" and {more} more" if more > 0 else ""
        yield f"  - {word}: {markdown_inline(names)}{rest}"
    yield from (f"  - {markdown_inline(words)}" for words in measures_in_words(comparison))


def _remarks(report: Report) -> str:
    lines = [
        f"- `{_code(policy.policy)}`: {markdown_inline(remark)}"
        for policy in report.policies
        for remark in remarks_in_words(policy)
    ]
    lines += [f"- note: {markdown_inline(note, 400)}" for note in report.notes[:20]]
    if not report.complete:
        lines.append("- **The run is not complete.**")
    return "\n".join(lines) + "\n" if lines else ""


def _categories(policy: PolicyReport) -> str:
    found = category_figures(policy)
    if len(found) < 2:
        return ""
    rows = [(markdown_inline(c.category, 60), _cell(c.under), _cell(c.over)) for c in found]
    table = _table(("category", "under-refusal", "over-refusal"), rows)
    is_broken = any(figure.is_broken for c in found for figure in _both(c))
    # In `code`, GitHub looks for no mention.
    name = f"<code>{html_text(one_line(policy.policy, 60))}</code>"
    return _folded(f"By category: {name}", table, is_open=is_broken)


def _both(figures: CategoryFigures) -> Iterator[Figure]:
    yield from (figure for figure in (figures.under, figures.over) if figure is not None)


def _failures(policies: Sequence[PolicyReport], room: int, *, redact: bool) -> str:
    found = [outcome for policy in policies for outcome in failures(policy)]
    if not found:
        return ""
    # The words around the list, with room for the longest number in it.
    room -= 200
    told = []
    for outcome in found:
        text = _failure(outcome, redact=redact)
        room -= len(text.encode()) + 1
        if room < 0:
            break
        told.append(text)
    more = len(found) - len(told)
    rest = f"\n{more} more in the JSON report.\n" if more else ""
    body = "\n".join(told)
    return "\n" + _folded(count(len(found), "misjudged or unevaluated prompt"), body + rest)


def _failure(outcome: Outcome, *, redact: bool) -> str:
    trial = outcome.trial
    name = f"{one_line(trial.prompt.id, 80)} [{one_line(trial.policy, 60)}]"
    lines = [f"- **{markdown_inline(name)}**: {markdown_inline(headline(outcome))}"]
    blocks = ["prompt: " + _clip(trial.prompt.text)]
    if outcome.response is not None:
        said = REDACTED if redact else _clip(outcome.response.text)
        blocks.append(f"came back: {said}")
    if isinstance(outcome, Evaluated) and not redact:
        blocks.append(f"evidence: {_clip(outcome.verdict.explain())}")
    block = markdown_block("\n".join(blocks))
    lines += ["", *(f"  {line}" for line in block.split("\n")), ""]
    return "\n".join(lines)


def _clip(text: str) -> str:
    if len(text) <= _CLIP:
        return text
    return f"{text[:_CLIP]} ... ({len(text) - _CLIP} more characters)"


def _provenance(report: Report) -> str:
    parts = [f"{name} {version}" for name, version in report.versions.items()]
    parts += [f"{c.name} ({count(c.prompts, 'prompt')})" for c in report.corpora[:20]]
    parts += [report.created] if report.created else []
    return f"<sub>{markdown_inline(', '.join(parts), 2000)}</sub>\n" if parts else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
