"""What a reader makes of a file: rows with the line where each begins. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Row(NamedTuple):
    """One prompt as the file has it, not yet checked. Lines count from 1."""

    line: int
    fields: Mapping[str, object]


class Broken(NamedTuple):
    """A place where a row should be and cannot be read; reading goes on behind it."""

    line: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The rows of one file, read as they are asked for.

    ours: whether the file is in our own form, where an unknown field is a fault; else a
    table, in which all is text, an empty cell is none, and other columns are left alone.
    columns: the header of a table, () for our own form.
    defaults: what holds for every row that does not say otherwise.
    """

    rows: Iterator[Row | Broken]
    ours: bool
    columns: tuple[str, ...] = ()
    defaults: Row | None = None
