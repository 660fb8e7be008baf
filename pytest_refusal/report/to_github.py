"""Report to GitHub Actions: annotations at the lines of the corpus, and the job's summary.

Prints nothing by itself: annotations are lines that somebody writes to standard output.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_refusal.escape import one_line, workflow_data, workflow_property
from pytest_refusal.outcome import Outcome
from pytest_refusal.report.failure_text import headline
from pytest_refusal.report.findings import decision, failures
from pytest_refusal.report.report import Report
from pytest_refusal.report.to_markdown import to_markdown

#: GitHub shows ten annotations of a kind for each step and drops the rest.
MOST = 10


def workflow_commands(report: Report, folder: Path) -> Iterator[str]:
    """Yield workflow commands: broken gates first, then the prompts that failed, worst first.

    folder: of the checkout; a corpus outside of it is named without a place.
    Prompts are errors if the session fails, and warnings if it does not.
    """
    level = "error" if decision(report).failed else "warning"
    commands = [*_gates(report)]
    found = [outcome for policy in report.policies for outcome in failures(policy)]
    commands += [_prompt(outcome, level, folder) for outcome in found]
    yield from commands[: MOST - 1]
    if more := len(commands[MOST - 1 :]):
        yield f"::notice title=pytest-refusal::{more} more in the summary and the report"


def append_summary(report: Report, path: Path, *, redact: bool) -> None:
    """Append the Markdown to the summary of the job.  Raises OSError if it cannot be written."""
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(to_markdown(report, redact=redact) + "\n")


def _gates(report: Report) -> Iterator[str]:
    for policy in report.policies:
        broken = [(r.ceiling.name, r.reason) for r in policy.gate.rulings if not r.held]
        broken += [(f"regression {r.name}", r.reason) for r in policy.gate.regression if not r.held]
        for name, reason in broken:
            title = workflow_property(one_line(f"{name} of {policy.policy}", 120))
            yield f"::error title={title}::{workflow_data(one_line(reason, 400))}"


def _prompt(outcome: Outcome, level: str, folder: Path) -> str:
    prompt = outcome.trial.prompt
    title = workflow_property(one_line(f"{prompt.id} [{outcome.trial.policy}]", 120))
    where = ""
    place = prompt.place
    if place is not None and (folder / place.path).is_relative_to(folder):
        path = (folder / place.path).relative_to(folder).as_posix()
        where = f"file={workflow_property(path)},line={place.line},"
    return f"::{level} {where}title={title}::{workflow_data(headline(outcome))}"
