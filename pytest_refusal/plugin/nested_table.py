"""A table of ours below pytest's root folder, where nobody reads it; imported in idle runs too."""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

_KEY = "pytest-refusal"


def refuse_nested_table(config: pytest.Config) -> None:
    """Refuse to run past a table below pytest's root folder.

    Looked at are the folders on the way from the root to where pytest was called, and to what
    its arguments name.  A file given by `-c` was chosen, and is no oversight.
    Raises UsageError if the table names a policy, or a policy is named elsewhere.
    """
    if config.option.inifilename:
        return
    here = config.invocation_params.dir
    for folder in _folders(config):
        try:
            content = (folder / "pyproject.toml").read_bytes()
            if _KEY.encode() not in content:
                continue
            tool = tomllib.loads(content.decode("utf-8-sig")).get("tool")
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            continue
        table = tool.get(_KEY) if isinstance(tool, dict) else None
        if isinstance(table, dict) and ("policy" in table or config.option.refusal_policy):
            from pytest_refusal.escape import visible

            file = visible(os.path.relpath(folder / "pyproject.toml", here))
            raise pytest.UsageError(
                f"{file} has a [tool.{_KEY}] that is not read: pytest's root folder is"
                f" {visible(str(config.rootpath))}; run with -c {shlex.quote(file)},"
                " or add a [tool.pytest.ini_options] there"
            )


def _folders(config: pytest.Config) -> Iterator[Path]:
    here, root = config.invocation_params.dir, config.rootpath
    seen = {root}
    for place in (here, *(_place(here, arg) for arg in config.args)):
        for folder in (place, *place.parents) if place.is_relative_to(root) else ():
            if folder in seen:
                break
            seen.add(folder)
            yield folder


def _place(here: Path, arg: str) -> Path:
    # Of a file the table in a folder of its name is none that exists.
    return Path(os.path.abspath(here / arg.partition("::")[0]))  # noqa: PTH100  # follows no links
