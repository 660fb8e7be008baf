"""Read CSV and TSV: a header, then a prompt a row; a cell may hold line breaks."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from pytest_refusal.corpus.decoding import LONGEST_LINE, Source
from pytest_refusal.corpus.faults import UnreadableError, listing
from pytest_refusal.corpus.rows import Broken, Dialect, Row, Sheet

if TYPE_CHECKING:
    import _csv

_BATCH = 512

_TOLD = re.compile(r'"?sep=([^"\w\s]|\t)"?\r?\n?')


def read_csv(source: Source, dialect: Dialect) -> Sheet:
    """Read cells that are set apart by commas, or by what the dialect says."""
    return _read(source, delimiter=dialect.delimiter or ",")


def read_tsv(source: Source, dialect: Dialect) -> Sheet:
    """Read cells that are set apart by tabs, or by what the dialect says."""
    return _read(source, delimiter=dialect.delimiter or "\t")


def _read(source: Source, *, delimiter: str) -> Sheet:
    # Strict: else an unclosed quote swallows the rest of the file without a word.
    lines = source.lines(newline="")
    first = next(lines, "")
    told = _TOLD.fullmatch(first)
    # Of Excel, which writes on the first line what sets the cells apart.
    begins, delimiter = (2, told[1]) if told else (1, delimiter)
    rest = lines if told else chain([first], lines)
    records = _records(csv.reader(rest, delimiter=delimiter, strict=True), begins)
    line, header = next(records, (1, []))
    if not header:
        raise UnreadableError(
            1, "the file is empty; a table begins with a header, such as prompt,label"
        )
    columns = tuple(name.strip() for name in header)
    twice = sorted(name for name, count in Counter(columns).items() if name and count > 1)
    if twice:
        raise UnreadableError(line, f"the header has {listing(twice)} more than once")
    return Sheet(rows=_rows(records, columns), ours=False, columns=columns)


def _rows(
    records: Iterator[tuple[int, list[str]]], columns: tuple[str, ...]
) -> Iterator[Row | Broken]:
    width = len(columns)
    for line, cells in records:
        if len(cells) > width and any(cells[width:]):
            what = f"the row has {len(cells)} cells, the header {width}; a cell that holds the"
            yield Broken(line, f"{what} separator must stand in double quotes")
        else:
            # A short row lacks its last cells; they are empty.
            yield Row(line, dict(zip(columns, cells, strict=False)))


def _records(reader: _csv.Reader, begins: int) -> Iterator[tuple[int, list[str]]]:
    before = begins  # the reader counts from 1, whatever came before
    exhausted = False
    while not exhausted:
        batch: list[tuple[int, list[str]]] = []
        problem: csv.Error | None = None
        with _large_cells():
            try:
                while len(batch) < _BATCH:
                    cells = next(reader, None)
                    if cells is None:
                        exhausted = True
                        break
                    if cells:
                        batch.append((begins, cells))
                    begins = reader.line_num + before
            except csv.Error as error:
                problem = error
        yield from batch
        if problem is not None:
            raise UnreadableError(
                begins, f"the row cannot be read: {_in_words(problem, begins)}"
            ) from problem


@contextmanager
def _large_cells() -> Iterator[None]:
    # The limit belongs to the whole process: others get it back after every batch.
    before = csv.field_size_limit(LONGEST_LINE)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _in_words(error: csv.Error, line: int) -> str:
    text = str(error)
    if text == "unexpected end of data":
        return "a double quote opens here and is never closed"
    if "expected after" in text and line == 1:
        return (
            "text follows a closing quote; where cells are set apart by another sign, say so in"
            ' pyproject.toml, under [[tool.pytest-refusal.corpora]], as delimiter = ";"'
        )
    if "expected after" in text:
        return "text follows a closing quote; write a double quote inside a cell twice"
    if "field larger than" in text:
        return f"a cell is longer than {LONGEST_LINE} characters; is a double quote not closed?"
    return text
