"""What a run prints: the header line and the summary. It decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest

from pytest_refusal import __version__
from pytest_refusal.corpus.reading import FileReading
from pytest_refusal.escape import one_line
from pytest_refusal.plugin.arrivals import Arrivals
from pytest_refusal.plugin.asking import asked_how
from pytest_refusal.plugin.run import Run
from pytest_refusal.plugin.session import RefusalSession
from pytest_refusal.plugin.typed_options import typed_options
from pytest_refusal.report.lines import Line, Style
from pytest_refusal.report.to_terminal import summary

_MARKUP: dict[Style, dict[str, bool]] = {
    Style.PLAIN: {},
    Style.STRONG: {"bold": True},
    Style.GOOD: {"green": True},
    Style.BAD: {"red": True, "bold": True},
    Style.NOTE: {"yellow": True},
}


class TerminalReport:
    """Prints what `report/to_terminal.py` made."""

    def __init__(
        self, config: pytest.Config, run: Run, arrivals: Arrivals, session: RefusalSession
    ) -> None:
        self._config = config
        self._run = run
        self._arrivals = arrivals
        self._session = session

    @pytest.hookimpl
    def pytest_report_header(self) -> str | None:
        """Say in one line what is asked of whom; nothing where that is not known yet."""
        run = self._run
        if not run.as_items and not run.must_evaluate:
            return None
        policies = ", ".join(one_line(name) for name in run.policies)
        how = {reading.corpus: _read_how(reading) for reading in run.readings}
        corpora = ", ".join(
            f"{part.node_id} ({len({t.prompt.id for t in part.trials.values()})}"
            f"{how.get(part.file.name, '')})"
            for part in run.parts
        )
        settings = run.settings
        source = one_line(str(settings.source)) if settings.source else None
        if source and settings.source and settings.source.is_relative_to(self._config.rootpath):
            source = one_line(settings.source.relative_to(self._config.rootpath).as_posix())
        has_ceilings = any(settings.ceilings_of(name) for name in run.policies)
        if not has_ceilings:
            ceilings = "no ceilings"
        elif settings.overrides:
            ceilings = "ceilings from the command line" + (f" and {source}" if source else "")
        else:
            ceilings = f"ceilings from {source}"
        asked = asked_how(run.asking.options, run.policies)
        responses = f", responses {asked}" if asked else ""
        return (
            f"refusal: {__version__}, policy: {policies}, corpus: {corpora or 'none'}, {ceilings}"
            f"{responses}"
        )

    @pytest.hookimpl
    def pytest_report_collectionfinish(self) -> list[str]:
        """Say how many calls will be made, before the first of them."""
        if self._run.dry or not self._arrivals.are_any_planned:
            return []
        return list(self._run.asking.planned(self._arrivals.planned()))

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the summary, unless the run asked nothing or the user wants no summary."""
        report = self._session.report
        if self._config.option.no_summary:
            return
        if report is None:
            for line in self._without_effect():
                terminalreporter.write_line(line, yellow=True)
            return
        writer = terminalreporter._tw  # noqa: SLF001  # no public way
        terminalreporter.section("refusal summary")
        lines = summary(
            report,
            reasons=self._session.reasons,
            verbosity=self._config.get_verbosity(),
            width=writer.fullwidth,
            encoding=encoding_of(terminalreporter),
        )
        write_lines(terminalreporter.write_line, lines)

    def _without_effect(self) -> Iterator[str]:
        # A policy that was typed and asked nothing is a mistake, and said to be one.
        if self._run.dry or self._run.must_evaluate:
            return
        if typed := typed_options(self._config):
            yield f"refusal: nothing was asked, so {', '.join(typed)} had no effect"


def write_lines(write: Callable[..., None], lines: Iterable[Line]) -> None:
    """Write each line in its style.

    write: takes a text and markup, as the terminal writer of pytest does.
    """
    for line in lines:
        write(line.text, **_MARKUP[line.style])


def encoding_of(reporter: pytest.TerminalReporter) -> str:
    """Return the encoding of what the reporter writes to."""
    return getattr(reporter._tw._file, "encoding", None) or "utf-8"  # noqa: SLF001  # no public way


def _read_how(reading: FileReading) -> str:
    """Say what a file was taken for, else where a table has its prompts."""
    if reading.published:
        return f", {reading.published}"
    columns = (one_line(column, 40) for column in reading.columns)
    return f", from {' or '.join(columns)}" if reading.columns else ""
