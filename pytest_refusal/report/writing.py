"""Which kind of report a path asks for, by the end of its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from pytest_refusal.report.atomic import can_be_made
from pytest_refusal.report.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of report.

    writer: `module:function`, imported only when it is asked for.
    needs: the module that must be there, and the extra of ours that brings it.
    """

    writer: str
    needs: tuple[str, str] | None = None


_PLOT = Kind(writer="to_plot:write_plot", needs=("matplotlib", "plots"))

#: By the end of the name; GitLab's before our own JSON, which it is not.
KINDS = {
    "code-quality-report.json": Kind(writer="to_code_quality:write_code_quality"),
    ".json": Kind(writer="to_json:write_json"),
    ".html": Kind(writer="to_html:write_html", needs=("jinja2", "html")),
    ".md": Kind(writer="to_markdown:write_markdown"),
    ".csv": Kind(writer="to_csv:write_csv"),
    ".svg": _PLOT,
    ".png": _PLOT,
    ".pdf": _PLOT,
}


def kind_of(path: Path) -> Kind | None:
    """Find the kind of a path; None if there is none of this name."""
    name = path.name.lower()
    return next((kind for end, kind in KINDS.items() if name.endswith(end)), None)


def check_path(path: Path, *, option: str = "--refusal-report") -> str | None:
    """Say why no report can be written to `path`; None if one can."""
    kind = kind_of(path)
    if kind is None:
        known = ", ".join(KINDS)
        return f"{option} {path}: no kind of report has this suffix (known: {known})"
    if kind.needs is not None and find_spec(kind.needs[0]) is None:
        module, extra = kind.needs
        return f"{option} {path}: needs {module}; pip install 'pytest-refusal[{extra}]'"
    if path.is_dir():
        return f"{option} {path}: is a folder"
    if not can_be_made(path):
        return f"{option} {path}: the folder cannot be written to"
    return None


def write_report(report: Report, path: Path, *, redact: bool) -> None:
    """Write the kind of report that the name of `path` asks for.

    redact: leave out what the policies said, and the evidence quoted from it.
    Raises OSError where the file cannot be written, ValueError where `check_path` has a fault.
    """
    kind = kind_of(path)
    if kind is None:
        raise ValueError(check_path(path))
    module, _, name = kind.writer.partition(":")
    write: Callable[..., None] = getattr(import_module(f"pytest_refusal.report.{module}"), name)
    write(report, path, redact=redact)
