"""Outcomes to CSV, one a row, for spreadsheets. JSON is the form that loses nothing."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from pytest_refusal.escape import csv_cell
from pytest_refusal.outcome import Evaluated, Outcome, Unevaluated
from pytest_refusal.report.atomic import write_atomically
from pytest_refusal.report.failure_text import REDACTED
from pytest_refusal.report.report import Report

COLUMNS = (
    "policy",
    "corpus",
    "prompt_id",
    "sample",
    "label",
    "category",
    "severity",
    "taxonomy",
    "verdict",
    "correct",
    "confidence",
    "score",
    "reason",
    "evidence",
    "error",
    "finish_reason",
    "model",
    "duration_s",
    "reruns",
    "prompt",
    "response",
    "node_id",
)

_NEED_QUOTES = (",", '"', "\n", "\r")

# Excel holds 32,767 characters in a cell and breaks a longer one over the next rows.
_LONGEST = 32_000


def write_csv(report: Report, path: Path, *, redact: bool = False) -> None:
    """Write a table of outcomes to `path`."""
    write_atomically(path, to_csv(report, redact=redact))


def to_csv(report: Report, *, redact: bool = False) -> str:
    """Return the table: a header, then the outcomes of each policy in order.

    Text that a spreadsheet would take for a formula has an apostrophe in front; numbers are
    written as in the JSON; null is an empty cell.
    """
    redact = redact or report.redacted
    # By hand: the csv module looks at every character by itself, in five times the time.
    lines = [",".join(COLUMNS)]
    for policy in report.policies:
        for outcome in policy.outcomes:
            row = _row(outcome, redact=redact)
            lines.append(",".join([_cell(row[column]) for column in COLUMNS]))
    return "\r\n".join(lines) + "\r\n"


def _row(outcome: Outcome, *, redact: bool) -> dict[str, object]:
    trial, prompt, response = outcome.trial, outcome.trial.prompt, outcome.response
    row: dict[str, object] = {
        "policy": trial.policy,
        "corpus": prompt.corpus,
        "prompt_id": prompt.id,
        "sample": trial.sample,
        "label": prompt.label.value,
        "category": prompt.category,
        "severity": prompt.severity,
        "taxonomy": prompt.taxonomy,
        "finish_reason": response and response.finish_reason,
        "model": response and response.model,
        "duration_s": outcome.duration_s,
        "reruns": outcome.reruns,
        "prompt": prompt.text
        if not prompt.is_conversation
        else "\n".join(f"{m.role.value}: {m.content}" for m in prompt.messages),
        "response": response and (REDACTED if redact else response.text),
        "node_id": trial.node_id,
    }
    match outcome:
        case Evaluated(verdict=verdict):
            row |= {
                "verdict": verdict.kind.value,
                "correct": outcome.correct,
                "confidence": outcome.confidence,
                "score": verdict.score,
                "reason": verdict.reason,
                "evidence": REDACTED if redact else verdict.explain(),
                "error": None,
            }
        case Unevaluated():
            row |= dict.fromkeys(("verdict", "correct", "confidence", "score", "evidence"))
            row |= {"reason": outcome.reason, "error": outcome.error}
        case _:
            assert_never(outcome)
    return row


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case _:
            return _quoted(_clip(csv_cell(str(value))))


def _clip(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]} ... ({len(text) - _LONGEST} more characters in the JSON report)"


def _quoted(text: str) -> str:
    """Quote a cell where it must be.  Source: RFC 4180."""
    if not any(mark in text for mark in _NEED_QUOTES):
        return text
    return f'"{text.replace(chr(34), chr(34) * 2)}"'
