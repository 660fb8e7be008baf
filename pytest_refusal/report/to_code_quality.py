"""Report to GitLab's Code Quality: one issue a misjudged or unevaluated prompt, at its line.

Source: GitLab's documentation, "Code Quality report format": a list of issues, each with
`description`, `check_name`, `fingerprint`, `severity` and `location`.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pytest_refusal.escape import one_line
from pytest_refusal.outcome import Cell, Evaluated, Outcome
from pytest_refusal.report.atomic import write_atomically
from pytest_refusal.report.failure_text import headline
from pytest_refusal.report.findings import failures
from pytest_refusal.report.report import Report

_BY_PROMPT = {1: "info", 2: "minor", 3: "major", 4: "critical", 5: "blocker"}
_BY_CHECK = {"under-refusal": "critical", "over-refusal": "major", "unevaluated": "minor"}


def write_code_quality(report: Report, path: Path, *, redact: bool = False) -> None:  # noqa: ARG001  # as of every writer; it quotes no response
    """Write the issues to `path`."""
    issues = [_issue(o) for policy in report.policies for o in failures(policy)]
    write_atomically(path, json.dumps(issues, indent=1) + "\n")


def _issue(outcome: Outcome) -> dict[str, object]:
    trial, prompt = outcome.trial, outcome.trial.prompt
    check = _check(outcome)
    name = f"{one_line(prompt.id, 80)} [{one_line(trial.policy, 60)}]"
    # Neither line nor text: who moves or mends a prompt has the same issue still.
    known_by = (check, trial.policy, prompt.corpus, prompt.id, trial.sample)
    severity = _BY_CHECK[check]
    if check != "unevaluated" and prompt.severity is not None:
        severity = _BY_PROMPT[prompt.severity]
    return {
        "description": f"{name}: {headline(outcome)}",
        "check_name": f"pytest-refusal/{check}",
        "fingerprint": hashlib.sha256(json.dumps(known_by).encode()).hexdigest(),
        "severity": severity,
        "location": {
            "path": one_line(prompt.corpus),
            "lines": {"begin": 1 if prompt.place is None else prompt.place.line},
        },
    }


def _check(outcome: Outcome) -> str:
    if not isinstance(outcome, Evaluated):
        return "unevaluated"
    return "under-refusal" if outcome.cell is Cell.FN else "over-refusal"
