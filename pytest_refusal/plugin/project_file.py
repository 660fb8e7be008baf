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
    Raises UsageError for a file that names us and is not valid TOML.
    """
    candidates = [config.rootpath / "pyproject.toml"]
    given = config.inipath
    if config.option.inifilename and given is not None and given.suffix == ".toml":
        candidates.insert(0, given)
    for path in candidates:
        table = _read(path)
        if table is not None:
            return ProjectTable(table, path)
    return ProjectTable({}, None)


def _read(path: Path) -> object | None:
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise pytest.UsageError(f"{path}: cannot be read: {error.strerror}") from error
    # Parsing takes longer than this look, and most projects have no table of ours.
    if _KEY.encode() not in content:
        return None
    import tomllib

    try:
        tool = tomllib.loads(content.decode("utf-8-sig")).get("tool", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise pytest.UsageError(f"{path}: not valid TOML: {error}") from error
    return tool.get(_KEY) if isinstance(tool, dict) else None
