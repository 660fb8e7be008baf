"""Which kind of report a path asks for, by its suffix."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_refusal.report.report import Report
from pytest_refusal.report.to_json import write_json

WRITERS = {".json": write_json}


def check_path(path: Path) -> str | None:
    """Say why no report can be written to `path`; None if one can."""
    if path.suffix.lower() not in WRITERS:
        known = ", ".join(WRITERS)
        return f"--refusal-report {path}: no kind of report has this suffix (known: {known})"
    if path.is_dir():
        return f"--refusal-report {path}: is a folder"
    folder = next((p for p in path.absolute().parents if p.exists()), None)
    if folder is None or not folder.is_dir() or not os.access(folder, os.W_OK):
        return f"--refusal-report {path}: the folder cannot be written to"
    return None


def write_report(report: Report, path: Path, *, redact: bool) -> None:
    """Write the kind of report that the suffix of `path` asks for.

    Raises OSError where the file cannot be written.
    """
    WRITERS[path.suffix.lower()](report, path, redact=redact)
