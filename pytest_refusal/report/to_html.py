"""Report to one HTML file that asks nothing of the network and reads well without script.

What it looks like is in `templates/`.  All text passes `visible` and is escaped by Jinja;
beyond that the page forbids every script and style but its own, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pytest_refusal.escape import one_line, visible
from pytest_refusal.metrics.wording import fraction, interval_text, number, percent
from pytest_refusal.report import findings
from pytest_refusal.report.atomic import write_atomically
from pytest_refusal.report.changes import counts_in_words, measures, prompts_by_change
from pytest_refusal.report.findings import Figure
from pytest_refusal.report.history import PastRun
from pytest_refusal.report.outcome_rows import RESULTS, UNEVALUATED, Rows
from pytest_refusal.report.remarks import remarks_beside_tables
from pytest_refusal.report.report import PolicyReport, Report
from pytest_refusal.verdict import VerdictKind

#: Lines of the history: what came before cannot be told apart in the plot.
MOST_RUNS = 200


def write_html(report: Report, path: Path, *, redact: bool = False) -> None:
    """Write the page to `path`."""
    write_atomically(path, to_html(report, redact=redact))


def to_html(report: Report, *, redact: bool = False) -> str:
    """Return the page."""
    redact = redact or report.redacted
    rows = Rows(report, redact=redact)
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
        fraction=fraction,
        measures=measures,
        prompts_by_change=prompts_by_change,
        remarks_beside_tables=remarks_beside_tables,
        exact=_exact,
        gate_class=_gate_class,
        in_json=_in_json,
        interval_text=interval_text,
        limit_word=_limit_word,
        number=number,
        percent=percent,
        one_line=one_line,
        result_words=RESULTS,
        is_compared=len(report.policies) > 1,
        rows=rows,
    )
    style, script = (_source(environment, name) for name in ("style.css", "filter.js"))
    return environment.get_template("report.html").render(
        report=report,
        decided=findings.decision(report),
        redacted=redact,
        past_runs=_past_runs(report),
        verdicts=(*VerdictKind, UNEVALUATED),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
    )


_FINDINGS = (
    "bin_interval",
    "calibration_groups",
    "calibration_words",
    "category_figures",
    "count",
    "gate_words",
    "interval_words",
    "main_figures",
    "reliability",
    "span_of_rates",
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


def _in_json(value: Mapping[str, object]) -> str:
    return json.dumps(dict(value), ensure_ascii=False)


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
