"""Which column of a table is which field of a prompt. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_refusal.corpus.faults import did_you_mean, listing
from pytest_refusal.corpus.prompts import FIELDS
from pytest_refusal.corpus.rows import Broken, Row, Sheet


def mapped(sheet: Sheet) -> Iterator[Row | Broken]:
    """Give the rows of a sheet the names of our fields; empty cells and other columns go.

    A table without a column for the prompt is one fault, not one for each row.
    """
    if sheet.ours:
        return sheet.rows
    columns = _own_columns(sheet.columns)
    if "prompt" not in columns:
        close = did_you_mean("prompt", sheet.columns)
        what = (
            f"the table has no column `prompt`; its columns are "
            f"{listing(sheet.columns)}{close or '.'} Other columns are mapped in pyproject.toml, "
            "under [[tool.pytest-refusal.corpora]]"
        )
        return iter([Broken(1, what)])
    return _renamed(sheet.rows, columns)


def _own_columns(columns: tuple[str, ...]) -> Mapping[str, str]:
    by_folded = {name.casefold(): name for name in columns}
    return {field: by_folded[field] for field in FIELDS if field in by_folded}


def _renamed(rows: Iterator[Row | Broken], columns: Mapping[str, str]) -> Iterator[Row | Broken]:
    pairs = tuple(columns.items())
    for row in rows:
        if isinstance(row, Broken):
            yield row
        else:
            fields = row.fields
            yield Row(
                row.line,
                {
                    name: value
                    for name, column in pairs
                    if (value := fields.get(column)) is not None
                    and (name == "prompt" or not _is_blank(value))
                },
            )


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and (not value or value.isspace())
