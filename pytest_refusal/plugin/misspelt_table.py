"""A table that was meant to be ours and has another name: its ceilings would check nothing."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path

_NAME = "pytest-refusal"


def misspelt_table(file: Path) -> str | None:
    """Return the name of a table that was probably meant to be `tool.pytest-refusal`."""
    try:
        whole = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None
    if _NAME in whole:
        return _NAME
    tool = whole.get("tool")
    tables = tool if isinstance(tool, dict) else {}
    inner = tables.get("pytest")
    if isinstance(inner, dict) and isinstance(inner.get("refusal"), dict):
        return "tool.pytest.refusal"
    close = ["refusal"] if isinstance(tables.get("refusal"), dict) else []
    close += get_close_matches(_NAME, tables, n=1, cutoff=0.9)
    return f"tool.{close[0]}" if close else None
