"""A table that was meant to be ours and has another name: its ceilings would check nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

_NAME = "pytest-refusal"


def misspelt_table(whole: Mapping[str, object], *, must_ask: bool) -> str | None:
    """Return the name of a table that was probably meant to be `tool.pytest-refusal`.

    whole: the content of a TOML file.  must_ask: whether only a table counts that holds
    `policy` or `corpus`.
    """
    for name, table in _meant(whole):
        if isinstance(table, dict) and (not must_ask or table.keys() & {"policy", "corpus"}):
            return name
    return None


def _meant(whole: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name in _alike(whole):
        yield name, whole[name]
    tool = whole.get("tool")
    if not isinstance(tool, dict):
        return
    inner = tool.get("pytest")
    if isinstance(inner, dict):
        yield "tool.pytest.refusal", inner.get("refusal")
    yield "tool.refusal", tool.get("refusal")
    for name in _alike(tool):
        yield f"tool.{name}", tool[name]


def _alike(tables: Mapping[str, object]) -> list[str]:
    return get_close_matches(_NAME, tables, n=3, cutoff=0.9)
