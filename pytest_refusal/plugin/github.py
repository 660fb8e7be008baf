"""What GitHub Actions is told: annotations on standard output, and the summary of the job."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_refusal.plugin.run import Run
from pytest_refusal.plugin.session import RefusalSession
from pytest_refusal.report.to_github import append_summary, workflow_commands


class GitHubReport:
    """Tells after the session what it came to; decides nothing."""

    def __init__(self, config: pytest.Config, run: Run, session: RefusalSession) -> None:
        self._config = config
        self._run = run
        self._session = session
        self._trouble: str | None = None

    @pytest.hookimpl
    def pytest_sessionfinish(self) -> None:
        """Append the Markdown to the summary of the job, if GitHub says where that is."""
        report, path = self._session.report, os.environ.get("GITHUB_STEP_SUMMARY")
        if report is None or not path:
            return
        try:
            append_summary(report, Path(path), redact=self._run.redact)
        except OSError as error:
            # Said in the log: a warning of Python may be an error, and this fails no build.
            self._trouble = f"the job summary could not be written: {error.strerror}"

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the annotations; GitHub takes them from the log and shows them at the corpus."""
        report = self._session.report
        if report is None:
            return
        folder = Path(os.environ.get("GITHUB_WORKSPACE") or self._config.rootpath)
        for command in workflow_commands(report, folder):
            terminalreporter.write_line(command)
        if self._trouble is not None:
            terminalreporter.write_line(f"::warning title=pytest-refusal::{self._trouble}")
