"""A file of recorded responses, row by row: JSONL, JSON, CSV or TSV.

Reads and splits; what the fields of a row mean is the business of `recorded.py`.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pytest_refusal.policy.foreign_files import rows_within

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")

_SPACE_AND_COMMA = re.compile(r"[\s,]*")
_NO_LIMIT = 1 << 31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a file. line: where it begins, from 1; 0 where that tells nothing."""

    line: int
    fields: Mapping[str, object]


class Fault(NamedTuple):
    """What is wrong in a line, counted from 1; line 0 is the file as a whole."""

    line: int
    text: str

    def at(self, path: Path) -> str:
        """Put it in one line, as `path:line: what`."""
        return f"{path}:{self.line}: {self.text}" if self.line else f"{path}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFile:
    """All rows of a file, and what is wrong with it.

    notes: what was passed over but should be known.
    """

    rows: tuple[Row, ...] = ()
    faults: tuple[Fault, ...] = ()
    notes: tuple[Fault, ...] = ()


def read_rows(path: Path) -> RowFile:
    """Read a file of rows, in UTF-8 with or without a byte order mark."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        return RowFile(faults=(Fault(0, f"cannot tell the format; the name must end in {known}"),))
    try:
        raw = path.read_bytes()
    except OSError as error:
        return RowFile(faults=(Fault(0, f"cannot be read: {error.strerror or error}"),))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        fault = Fault(line, f"not UTF-8 (byte 0x{raw[error.start]:02x}); save it as UTF-8")
        return RowFile(faults=(fault,))
    if suffix in {".csv", ".tsv"}:
        return _table(text, "," if suffix == ".csv" else "\t")
    return _json(text) if suffix == ".json" else _json_lines(text)


def _json_lines(text: str) -> RowFile:
    rows: list[Row] = []
    faults: list[Fault] = []
    notes: list[Fault] = []
    lines = text.split("\n")  # not splitlines(): U+2028 is legal inside a JSON string
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == len(lines) and number > 1:
                notes.append(Fault(number, "the last line is cut off; it was left out"))
            else:
                faults.append(Fault(number, f"not JSON: {_json_trouble(error)}"))
            continue
        if isinstance(fields, dict):
            rows.append(Row(line=number, fields=fields))
        else:
            faults.append(Fault(number, f"expected an object, not {_json_kind(fields)}"))
    return RowFile(rows=tuple(rows), faults=tuple(faults), notes=tuple(notes))


def _json(text: str) -> RowFile:
    """Read a list of objects one by one, so that each has its line."""
    if not text.lstrip().startswith("["):
        return _json_document(text)
    decoder = json.JSONDecoder()
    rows: list[Row] = []
    faults: list[Fault] = []
    position = _skip(text, text.index("[") + 1)
    line, counted = 1, 0
    while position < len(text) and text[position] != "]":
        line += text.count("\n", counted, position)
        counted = position
        try:
            fields, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            faults.append(Fault(line, f"not JSON: {_json_trouble(error)}"))
            break
        if isinstance(fields, dict):
            rows.append(Row(line=line, fields=fields))
        else:
            faults.append(Fault(line, f"expected an object, not {_json_kind(fields)}"))
        position = _skip(text, position)
    else:
        if position >= len(text):
            line += text.count("\n", counted)
            faults.append(Fault(line, "the list is not closed: ] is missing"))
    return RowFile(rows=tuple(rows), faults=tuple(faults))


def _json_document(text: str) -> RowFile:
    try:
        found = rows_within(json.loads(text))
    except (ValueError, RecursionError) as error:
        return RowFile(faults=(Fault(1, f"not JSON: {_json_trouble(error)}"),))
    if found is None:
        expected = "expected a list of objects, [{...}, ...], a log of Inspect or promptfoo results"
        return RowFile(faults=(Fault(1, expected),))
    # A document of another tool, whose lines mean nothing to its user.
    return RowFile(rows=tuple(Row(line=0, fields=row) for row in found if isinstance(row, dict)))


def _table(text: str, delimiter: str) -> RowFile:
    # The limit of 128 KiB a field is one of the whole process; ours is set back at once.
    limit = csv.field_size_limit(_NO_LIMIT)
    try:
        return _table_rows(text, delimiter)
    except csv.Error as error:
        return RowFile(faults=(Fault(0, f"not a table: {error}"),))
    finally:
        csv.field_size_limit(limit)


def _table_rows(text: str, delimiter: str) -> RowFile:
    faults: list[Fault] = []
    rows: list[Row] = []
    cells = _numbered_cells(text, delimiter)
    _, header = next(cells, (1, []))
    columns = [name.strip() for name in header]
    if not any(columns):
        return RowFile(faults=(Fault(1, "the header is missing"),))
    twice = sorted({name for name in columns if name and columns.count(name) > 1})
    if twice:
        return RowFile(faults=(Fault(1, f"two columns are called {', '.join(twice)}"),))
    for line, row in cells:
        if len(row) == len(columns):
            rows.append(Row(line=line, fields=dict(zip(columns, row, strict=True))))
        elif row:
            faults.append(Fault(line, f"{len(row)} cells; the header has {len(columns)}"))
    return RowFile(rows=tuple(rows), faults=tuple(faults))


def _numbered_cells(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    line = 1
    for row in reader:
        yield line, row
        line = reader.line_num + 1


def _skip(text: str, position: int) -> int:
    match = _SPACE_AND_COMMA.match(text, position)
    return match.end() if match else position


def _json_trouble(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} (column {error.colno})"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _json_kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case list():
            return "a list"
        case str():
            return "a string"
        case bool():
            return "a boolean"
        case _:
            return "a number"
