"""One file to prompts: choose how to read it, map its rows, check each prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

from pytest_refusal.corpus.compression import DAMAGE, open_unpacked
from pytest_refusal.corpus.decoding import Source
from pytest_refusal.corpus.faults import Fault, UnreadableError, listing, quoted
from pytest_refusal.corpus.formats import format_of, reader_of
from pytest_refusal.corpus.layout import Layout
from pytest_refusal.corpus.mapping import (
    mapped,
    missing_columns,
    misspelt_columns,
    no_prompt_field,
    own_layout,
    value_at,
)
from pytest_refusal.corpus.prompts import LABEL_COLUMN, PromptBuilder
from pytest_refusal.corpus.published import PUBLISHED
from pytest_refusal.corpus.recognition import Published, recognise
from pytest_refusal.corpus.rows import Broken, Dialect, Row, Sheet
from pytest_refusal.corpus.sources import CorpusFile
from pytest_refusal.corpus.tables import CorpusTable
from pytest_refusal.prompt import Prompt

_NO_TABLE = CorpusTable(paths=())

#: How many rows are looked at to see what columns there are.
_LOOKED_AT = 20

#: Prompts of one file, right or wrong; a small packed file may stand for more than memory holds.
MOST_PROMPTS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """What became of one file.

    published: the title of the set that it was taken for, "" for none.
    columns: the columns of the prompt, () for our own form.
    sha256: of the file as it was when it was read; None for what is no file.
    misspelt: columns that were not read, and the field that each was probably meant for.
    """

    corpus: str
    prompts: tuple[Prompt, ...]
    faults: tuple[Fault, ...]
    published: str = ""
    columns: tuple[str, ...] = ()
    sha256: str | None = None
    misspelt: Mapping[str, str] = field(default_factory=dict)


class _FileReader:
    """Reads one file and takes down what is wrong with it."""

    def __init__(self, file: CorpusFile) -> None:
        self._file = file
        self._table = file.table or _NO_TABLE
        self._faults: list[Fault] = []
        self._prompts: list[Prompt] = []
        self._published: Published | None = None
        self._columns: tuple[str, ...] = ()
        self._seen: tuple[str, ...] = ()
        self._misspelt: Mapping[str, str] = {}

    def read(self) -> FileReading:
        try:
            self._read_file()
        except UnreadableError as error:
            self._fault(error.line, error.what)
        except OSError as error:
            self._fault(1, f"cannot be read: {error.strerror or error}")
        except DAMAGE as error:
            self._fault(1, f"the compressed file is damaged: {error}")
        if not self._faults and not self._prompts:
            self._fault(1, self._nothing())
        return FileReading(
            corpus=self._file.name,
            prompts=tuple(self._prompts),
            faults=tuple(self._faults),
            published=self._published.title if self._published else "",
            columns=self._columns,
            sha256=None if self._file.is_hosted else sha256_of(self._file.path),
            misspelt=self._misspelt,
        )

    def _read_file(self) -> None:
        if self._file.is_hosted:
            from pytest_refusal.corpus.read_hosted import read_hosted  # optional

            self._read_sheet(read_hosted(self._file.name))
            return
        stream = open_unpacked(self._file.path)
        with closing(Source(stream, self._table.encoding)) as source:
            try:
                read = reader_of(self._format())
                dialect = Dialect(delimiter=self._table.delimiter, records=self._table.records)
                self._read_sheet(read(source, dialect))
            finally:
                if source.undecoded:
                    self._fault(source.undecoded[0], _undecoded(source))

    def _read_sheet(self, sheet: Sheet) -> None:
        rows, seen = _with_columns_seen(sheet)
        self._seen = seen
        layout = self._layout(sheet, seen)
        if layout is None and not self._by_hand() and (what := no_prompt_field(seen)) is not None:
            self._fault(1, what)
            return
        if layout is None:
            builder = PromptBuilder(
                self._file, ours=True, defaults=self._defaults(sheet), labelled_by=""
            )
            rows = (row for row in rows if isinstance(row, Broken) or self._keeps(row.fields))
        else:
            self._columns = (*layout.columns.get("prompt", ()), *layout.languages.values())
            missing = missing_columns(layout, sheet.columns) if sheet.columns else []
            for what in missing:
                self._fault(1, what)
            if missing:
                return
            if self._published is None:
                self._misspelt = misspelt_columns(layout, seen)
            builder = PromptBuilder(
                self._file, ours=False, defaults=sheet.defaults, labelled_by=self._labelled_by()
            )
            rows = mapped(rows, layout, self._keeps)
        try:
            for number, row in enumerate(rows):
                if number == MOST_PROMPTS:
                    what = f"the file has more than {MOST_PROMPTS} prompts; divide it"
                    raise UnreadableError(row.line, what)
                if isinstance(row, Broken):
                    builder.refuse(row)
                elif (prompt := builder.build(row)) is not None:
                    self._prompts.append(prompt)
        finally:
            self._faults.extend(builder.faults())

    def _labelled_by(self) -> str:
        if self._published is not None:
            return self._published.labelled_by or LABEL_COLUMN
        if self._format() == "text":
            return ""
        meant = next((c for c, field in self._misspelt.items() if field == "label"), None)
        return LABEL_COLUMN if meant is None else _meant(meant)

    def _by_hand(self) -> bool:
        # What somebody wrote for us has slips; what comes from elsewhere has other fields.
        return self._format() == "toml"

    def _format(self) -> str:
        return self._table.format or format_of(self._file.path.name) or "text"

    def _layout(self, sheet: Sheet, seen: tuple[str, ...]) -> Layout | None:
        """Return how the fields are mapped; None for a file in our own form."""
        said = self._table.layout
        self._published = self._set_of(frozenset(seen))
        if self._published is not None:
            return self._published.layout_of(self._file.name).overlaid(said)
        if sheet.ours and not (said.columns or said.languages or said.labels):
            return None
        return own_layout(seen).overlaid(said)

    def _set_of(self, columns: frozenset[str]) -> Published | None:
        if self._table.set_name is not None:
            return next(p for p in PUBLISHED if p.name == self._table.set_name)
        if self._table.layout.columns or self._table.layout.languages:
            return None
        found = recognise(columns, self._file.name, PUBLISHED)
        folded = {name.casefold() for name in columns}
        if found and "label" in folded and "label" not in found.columns:
            # A file that has labels of its own keeps them, whatever else it looks like.
            return None
        return found

    def _defaults(self, sheet: Sheet) -> Row | None:
        said = self._table.layout.constants
        own = sheet.defaults or Row(1, {})
        return Row(own.line, {**said, **own.fields}) if said else sheet.defaults

    def _keeps(self, fields: Mapping[str, object]) -> bool:
        for column, patterns in self._table.filter:
            word = _word(value_at(fields, column))
            if not any(fnmatchcase(word, pattern) for pattern in patterns):
                return False
        return True

    def _nothing(self) -> str:
        if not self._seen or not self._table.filter:
            return "the file has no prompts"
        named = listing(column for column, _ in self._table.filter)
        return f"no row passes the filter on {named}; the columns are {listing(self._seen)}"

    def _fault(self, line: int, what: str) -> None:
        self._faults.append(Fault(self._file.name, line, what))


def read_corpus_file(file: CorpusFile) -> FileReading:
    """Read and check one file; whatever is wrong with it is in the result."""
    return _FileReader(file).read()


def _with_columns_seen(sheet: Sheet) -> tuple[Iterator[Row | Broken], tuple[str, ...]]:
    if sheet.columns:
        return sheet.rows, sheet.columns
    first: list[Row | Broken] = []
    seen: dict[str, None] = {}
    for row in sheet.rows:
        first.append(row)
        if isinstance(row, Row):
            seen.update(dict.fromkeys(row.fields))
        if len(first) == _LOOKED_AT:
            break
    return chain(first, sheet.rows), tuple(seen)


def sha256_of(path: Path) -> str | None:
    """Return the hash of a file in hexadecimal; None where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _meant(column: str) -> str:
    return f'did you mean "label" by the column {quoted(column)}? Rename it'


def _word(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else quoted(value)


def _undecoded(source: Source) -> str:
    others = len(source.undecoded) - 1
    more = f" (and {others} more)" if others else ""
    return (
        f"this line{more} is not in {source.encoding}; save the file as UTF-8, or say what it is "
        'in pyproject.toml, under [[tool.pytest-refusal.corpora]], as encoding = "latin-1"'
    )
