"""A table of ours below pytest's root folder, where nobody reads it; imported in idle runs too."""

from __future__ import annotations

import os
import shlex
import tomllib

import pytest

_KEY = "pytest-refusal"


def refuse_nested_table(config: pytest.Config) -> None:
    """Refuse to run past a table between the folder of invocation and pytest's root folder.

    Raises UsageError if the table names a policy, or a policy is named elsewhere. A file given
    by `-c` was chosen, and is no oversight.
    """
    if config.option.inifilename:
        return
    here, root = config.invocation_params.dir, config.rootpath
    for folder in (here, *here.parents) if here.is_relative_to(root) else ():
        if folder == root:
            return
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
                f" {visible(str(root))}; run with -c {shlex.quote(file)},"
                " or add a [tool.pytest.ini_options] there"
            )
