"""Report to one HTML file that asks nothing of the network and reads well without script.

What it looks like is in `templates/`.  All text passes `visible` and is escaped by Jinja;
beyond that the page forbids every script and style but its own, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pytest_refusal.escape import one_line, visible
from pytest_refusal.metrics.wording import interval_text, number
from pytest_refusal.outcome import Cell, Evaluated, Outcome, Unevaluated
from pytest_refusal.report import findings
from pytest_refusal.report.atomic import write_atomically
from pytest_refusal.report.changes import counts_in_words, measures_in_words, prompts_by_change
from pytest_refusal.report.failure_text import REDACTED
from pytest_refusal.report.findings import Figure
from pytest_refusal.report.history import PastRun
from pytest_refusal.report.remarks import remarks_in_words
from pytest_refusal.report.report import PolicyReport, Report
from pytest_refusal.verdict import Evidence, VerdictKind

#: Characters of one message or response; the JSON has all of it.
CLIP = 4_096

#: Lines of the history: what came before cannot be told apart in the plot.
MOST_RUNS = 200

UNEVALUATED = "unevaluated"

_RESULTS = {
    "fn": "under-refusal",
    "fp": "over-refusal",
    "no": UNEVALUATED,
    "ok": "right",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a response, evidence or not."""

    text: str
    is_evidence: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What somebody said.  clipped: how many characters are left out."""

    who: str
    pieces: tuple[Piece, ...]
    clipped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of the table of outcomes.  policy, category: by their place in the report."""

    outcome: Outcome
    policy: int
    category: int
    result: str
    verdict: str
    confidence: float | None
    turns: tuple[Turn, ...]
    facts: tuple[tuple[str, str], ...]


def write_html(report: Report, path: Path, *, redact: bool = False) -> None:
    """Write the page to `path`."""
    write_atomically(path, to_html(report, redact=redact))


def to_html(report: Report, *, redact: bool = False) -> str:
    """Return the page."""
    redact = redact or report.redacted
    environment = Environment(
        loader=PackageLoader("pytest_refusal.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.globals.update(
        {name: getattr(findings, name) for name in _FINDINGS},
        counts_in_words=counts_in_words,
        measures_in_words=measures_in_words,
        prompts_by_change=prompts_by_change,
        remarks_in_words=remarks_in_words,
        exact=_exact,
        gate_class=_gate_class,
        interval_text=interval_text,
        limit_word=_limit_word,
        number=number,
        one_line=one_line,
        result_words=_RESULTS,
    )
    style, script = (_source(environment, name) for name in ("style.css", "filter.js"))
    categories = sorted({o.trial.prompt.category for p in report.policies for o in p.outcomes})
    wrong, right = _entries(report, categories, redact=redact)
    return environment.get_template("report.html").render(
        report=report,
        decided=findings.decision(report),
        redacted=redact,
        past_runs=_past_runs(report),
        wrong=wrong,
        right=right,
        all_categories=categories,
        verdicts=(*VerdictKind, UNEVALUATED),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
    )


_FINDINGS = (
    "bin_interval",
    "calibration_words",
    "category_figures",
    "count",
    "gate_words",
    "interval_words",
    "main_figures",
    "reliability",
)


def _visible(value: object) -> object:
    # Markup is a str too, and is ours.
    return visible(value) if type(value) is str else value


def _source(environment: Environment, name: str) -> Markup:
    if environment.loader is None:
        raise ValueError("no loader")
    return Markup(environment.loader.get_source(environment, name)[0])  # noqa: S704  # our own file


def _hash(source: str) -> str:
    return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def _exact(value: float | None) -> str:
    return "" if value is None else repr(value)


def _gate_class(policy: PolicyReport) -> str:
    return {True: "good", False: "bad", None: "soft"}[policy.gate.passed]


def _limit_word(figure: Figure) -> str:
    is_floor = figure.ruling is not None and figure.ruling.ceiling.measure.is_floor
    return "floor" if is_floor else "ceiling"


def _past_runs(report: Report) -> dict[str, list[PastRun]]:
    found: dict[str, list[PastRun]] = {}
    for run in report.history[-MOST_RUNS:]:
        found.setdefault(run.policy, []).append(run)
    return found


def _entries(
    report: Report, categories: list[str], *, redact: bool
) -> tuple[list[Entry], list[Entry]]:
    place = {category: index for index, category in enumerate(categories)}
    wrong: list[Entry] = []
    right: list[Entry] = []
    for index, policy in enumerate(report.policies):
        failed = findings.failures(policy)
        passed = (o for o in policy.outcomes if isinstance(o, Evaluated) and o.correct)
        for found, outcomes in ((wrong, failed), (right, passed)):
            for outcome in outcomes:
                category = place[outcome.trial.prompt.category]
                found.append(_entry(outcome, index, category, redact=redact))
    return wrong, right


def _entry(outcome: Outcome, policy: int, category: int, *, redact: bool) -> Entry:
    match outcome:
        case Evaluated(verdict=verdict):
            result = {Cell.FN: "fn", Cell.FP: "fp"}.get(outcome.cell, "ok")
            word, confidence = verdict.kind.value, outcome.confidence
        case Unevaluated():
            result, word, confidence = "no", UNEVALUATED, None
        case _:
            assert_never(outcome)
    return Entry(
        outcome=outcome,
        policy=policy,
        category=category,
        result=result,
        verdict=word,
        confidence=confidence,
        turns=tuple(_turns(outcome, redact=redact)),
        facts=tuple(_facts(outcome, redact=redact)),
    )


def _turns(outcome: Outcome, *, redact: bool) -> Iterator[Turn]:
    response = outcome.response
    earlier = iter(response.earlier if response is not None else ())
    messages = outcome.trial.prompt.messages
    for message, following in zip(messages, (*messages[1:], None), strict=True):
        yield _turn(message.role.value, message.content)
        if following is not None and message.role is following.role:
            for reply in earlier:
                yield _turn("response", REDACTED if redact else reply)
                break
    if response is None:
        return
    if redact:
        yield _turn("response", REDACTED)
        return
    if response.refusal is not None:
        yield _turn("refusal field", response.refusal)
    evidence = outcome.verdict.evidence if isinstance(outcome, Evaluated) else ()
    if response.text or response.refusal is None:
        yield _turn("response", response.text or "(no text)", evidence)


def _turn(who: str, text: str, evidence: tuple[Evidence, ...] = ()) -> Turn:
    shown = text[:CLIP]
    return Turn(
        who=who,
        pieces=tuple(_pieces(shown, evidence)),
        clipped=len(text) - len(shown),
    )


def _pieces(text: str, evidence: tuple[Evidence, ...]) -> Iterator[Piece]:
    done = 0
    spans = sorted((e.offset, e.text) for e in evidence if e.offset is not None)
    for offset, words in spans:
        end = offset + len(words)
        # What overlaps or was clipped is told as a fact below all the same.
        if offset < done or text[offset:end] != words:
            continue
        yield Piece(text=text[done:offset])
        yield Piece(text=words, is_evidence=True)
        done = end
    yield Piece(text=text[done:])


def _facts(outcome: Outcome, *, redact: bool) -> Iterator[tuple[str, str]]:
    match outcome:
        case Evaluated(verdict=verdict):
            yield "evidence", REDACTED if redact else one_line(verdict.explain(), 500)
        case Unevaluated():
            yield "reason", one_line(outcome.reason, 200)
            yield "error", one_line(outcome.error, 500)
        case _:
            assert_never(outcome)
    prompt, response = outcome.trial.prompt, outcome.response
    if response is not None:
        if response.finish_reason is not None:
            yield "finish reason", one_line(response.finish_reason, 60)
        if response.block is not None:
            block = response.block
            said = ", ".join(filter(None, (block.stage.value, block.signal, block.detail)))
            yield "filter", one_line(said, 200)
        if response.tool_calls:
            yield "tool calls", one_line(", ".join(response.tool_calls), 200)
        if response.model is not None:
            yield "model", one_line(response.model, 100)
    if prompt.severity is not None:
        yield "severity", str(prompt.severity)
    if prompt.taxonomy is not None:
        yield "taxonomy", one_line(prompt.taxonomy, 100)
    if outcome.reruns:
        yield "reruns", str(outcome.reruns)
    where = prompt.corpus if prompt.place is None else f"{prompt.corpus}:{prompt.place.line}"
    yield "corpus", one_line(where, 200)
