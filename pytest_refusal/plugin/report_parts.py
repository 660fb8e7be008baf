"""What we put on the reports of pytest: outcomes, text in place of tracebacks, safe sections."""

from __future__ import annotations

import shlex

import pytest
from _pytest._code.code import (
    ReprEntryNative,
    ReprExceptionInfo,
    ReprFileLocation,
    ReprTraceback,
)

from pytest_refusal.escape import visible
from pytest_refusal.plugin.run import Run
from pytest_refusal.report.failure_text import REDACTED

#: The attribute of a report that carries the outcome: as text where it leaves the process.
OUTCOME = "refusal_outcome"


def rerun_command(config: pytest.Config, node_id: str, policy: str) -> str:
    """Return the command that runs one test again, to the same outcome.

    A run that replays must not ask a model when it is repeated, nor one that redacts tell all.
    """
    option = config.option
    words = ["pytest"]
    words += ["-c", option.inifilename] if option.inifilename else []
    words += [f"--rootdir={option.rootdir}"] if option.rootdir else []
    words += [node_id, f"--refusal-policy={policy}"]
    words += [
        f"--refusal-{name.replace('_', '-')}={value}"
        for name in ("classifier", "samples", "record", "record_mode")
        if (value := getattr(option, f"refusal_{name}")) is not None
    ]
    words += ["--refusal-redact"] * option.refusal_redact
    return " ".join(shlex.quote(visible(str(word))) for word in words)


def make_sections_safe(report: pytest.TestReport, run: Run) -> None:
    """Make captured output safe to show, and to send.

    What a policy printed is as hostile as what it said, and one lone surrogate would end
    a worker of xdist.
    """
    if report.sections:
        # Client libraries log what they send and receive, at some level.
        hide = run.asking.asker.hide
        report.sections = [
            (title, REDACTED if run.redact else visible(hide(text)))
            for title, text in report.sections
        ]


def native_text(text: str, path: str, line: int, headline: str) -> ReprExceptionInfo:
    """Return text in place of a traceback.

    pytest takes only its own kinds of text apart, and only these cross to the controller.
    """
    return ReprExceptionInfo(
        reprtraceback=ReprTraceback([ReprEntryNative([text, "\n"])], None, style="native"),
        reprcrash=ReprFileLocation(path, line, headline),
    )
