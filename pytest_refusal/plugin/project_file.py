"""Find our table in the project's TOML file; imported in idle runs too, so kept light."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

_KEY = "pytest-refusal"


class ProjectTable(NamedTuple):
    """The `[tool.pytest-refusal]` table as read, and the file that held it."""

    table: object
    source: Path | None

    @property
    def names_policy(self) -> bool:
        """Whether a policy is set as the default."""
        return isinstance(self.table, dict) and "policy" in self.table


def read_project_table(config: pytest.Config) -> ProjectTable:
    """Read the table from the file given by `-c` if it holds one, else from rootdir.

    `pyproject.toml` in rootdir counts whatever file pytest took its own settings from.
    Raises UsageError for a file that names us and is not valid TOML, and for a table that
    asks for a run under a name like ours.
    """
    candidates = [config.rootpath / "pyproject.toml"]
    given = config.inipath
    if config.option.inifilename and given is not None and given.suffix == ".toml":
        candidates.insert(0, given)
    for path in candidates:
        whole = _read(path)
        if whole is None:
            continue
        tool = whole.get("tool")
        if isinstance(tool, dict) and _KEY in tool:
            return ProjectTable(tool[_KEY], path)
        _refuse_misspelt(config, whole, path)
    return ProjectTable({}, None)


def _read(path: Path) -> dict[str, object] | None:
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise pytest.UsageError(f"{path}: cannot be read: {error.strerror}") from error
    # Parsing takes longer than this look, and most projects have no table of ours.
    if b"refusal" not in content:
        return None
    import tomllib

    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        if _KEY.encode() not in content:
            return None
        raise pytest.UsageError(f"{path}: not valid TOML: {error}") from error


def _refuse_misspelt(config: pytest.Config, whole: dict[str, object], path: Path) -> None:
    from pytest_refusal.plugin.misspelt_table import misspelt_table

    meant = misspelt_table(whole, must_ask=not config.option.refusal_policy)
    if meant is not None:
        from pytest_refusal.escape import visible

        raise pytest.UsageError(
            f"[{visible(meant)}] in {visible(path.name)} is not read;"
            f" its name must be [tool.{_KEY}]"
        )
