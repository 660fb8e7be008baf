"""What a reader makes of a file: rows with the line where each begins. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pytest_refusal.corpus.faults import quoted


class Row(NamedTuple):
    """One prompt as the file has it, not yet checked. Lines count from 1."""

    line: int
    fields: Mapping[str, object]


class Broken(NamedTuple):
    """A place where a row should be and cannot be read; reading goes on behind it."""

    line: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What a reader must be told, where the file does not tell.

    delimiter: what sets the cells of a table apart.
    records: the dotted path to the list of prompts in a document.
    """

    delimiter: str | None = None
    records: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The rows of one file, read as they are asked for.

    ours: whether the format is one of our own, in which an unknown field is a fault unless
    the fields are mapped; else other columns are left alone.
    columns: the header of a table, () where only the rows themselves tell.
    defaults: what holds for every row that does not say otherwise.
    """

    rows: Iterator[Row | Broken]
    ours: bool
    columns: tuple[str, ...] = ()
    defaults: Row | None = None


def row_of(line: int, value: object) -> Row | Broken:
    """Return the row that a value stands for: an object of fields, or the bare text."""
    if isinstance(value, dict):
        return Row(line, value)
    if isinstance(value, str):
        return Row(line, {"prompt": value})
    return Broken(line, f"a prompt is an object of fields, or a text, and this is {quoted(value)}")
