"""Render a JSON report as any other kind: `python -m pytest_refusal.report x.json --to x.html`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_refusal.command_line import run_command
from pytest_refusal.errors import ReportError
from pytest_refusal.escape import visible
from pytest_refusal.report.from_json import read_json
from pytest_refusal.report.history import read_history
from pytest_refusal.report.writing import KINDS, check_path, write_report


def main(arguments: Sequence[str] | None = None) -> int:
    """Read one report and write the others; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m pytest_refusal.report",
        description="Render a JSON report of pytest-refusal again; no policy is asked.",
    )
    parser.add_argument("report", type=Path, help="what --refusal-report=PATH.json wrote")
    parser.add_argument(
        "--to",
        type=Path,
        action="append",
        required=True,
        metavar="PATH",
        help=f"what to write, its kind by the end of its name: {', '.join(KINDS)}. Repeatable",
    )
    parser.add_argument(
        "--redact", action="store_true", help="leave out what the policies said. Default: off"
    )
    parser.add_argument(
        "--history",
        type=Path,
        metavar="PATH",
        help="what --refusal-history=PATH wrote, for the trend in HTML. Default: no trend",
    )
    options = parser.parse_args(arguments)
    faults = [fault for path in options.to if (fault := check_path(path, option="--to"))]
    if faults:
        return _fail(faults)
    try:
        report = read_json(options.report)
        if options.history is not None:
            report = replace(report, history=read_history(options.history))
        for path in options.to:
            write_report(report, path, redact=options.redact)
    except ReportError as error:
        return _fail(error.faults)
    except OSError as error:
        return _fail([f"{error.filename or options.report}: {error.strerror or error}"])
    return 0


def _fail(faults: Iterable[str]) -> int:
    for fault in faults:
        print(f"error: {visible(fault)}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    run_command(main)
