"""The tables `[[tool.pytest-refusal.corpora]]`: how to read files that are not in our form.

From plain data to frozen values, with every fault at once. No I/O.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeGuard

from pytest_refusal.corpus.faults import did_you_mean, listing, quoted
from pytest_refusal.corpus.fields import DEFAULTABLE, FIELDS
from pytest_refusal.corpus.formats import FORMATS
from pytest_refusal.corpus.layout import Layout
from pytest_refusal.corpus.published import PUBLISHED
from pytest_refusal.corpus.transform import NONE, TRANSFORMS
from pytest_refusal.prompt import Label

_SETTINGS = (
    "path",
    "format",
    "encoding",
    "delimiter",
    "records",
    "set",
    "columns",
    "labels",
    "filter",
    "sample",
    "seed",
    "transforms",
)
#: Everything that a table may say.
KEYS = (*_SETTINGS, *DEFAULTABLE)
_COLUMNS = (*FIELDS, "context")


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusTable:
    """How to read the files that `paths` name.

    paths: entries as in `corpus`.  format, encoding, delimiter: None where the file tells.
    records: the dotted path to the list of prompts in a JSON or YAML document.
    set_name: the published set that it is, None to look at its columns.
    layout: what was said about columns, labels and constants; it goes over that of the set.
    filter: (column, patterns); a row counts if each of its columns matches one pattern.
    sample: how many prompts to take, None for all.  seed: which ones.
    transforms: under which of them each prompt is asked; () for as it is.
    """

    paths: tuple[str, ...]
    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    records: str | None = None
    set_name: str | None = None
    layout: Layout = field(default_factory=Layout)
    filter: tuple[tuple[str, tuple[str, ...]], ...] = ()
    sample: int | None = None
    seed: int = 0
    transforms: tuple[str, ...] = ()


def parse_corpus_tables(tables: object) -> tuple[tuple[CorpusTable, ...], list[str]]:
    """Read the value of `corpora`; returns what could be read, and a line for each fault."""
    if not isinstance(tables, list):
        return (), [f"corpora is {quoted(tables)}; write [[tool.pytest-refusal.corpora]] tables"]
    faults: list[str] = []
    found = []
    for number, plain in enumerate(tables, start=1):
        name = f"corpora, table {number}"
        if isinstance(plain, Mapping):
            found.append(_TableParser(plain, name, faults).table())
        else:
            faults.append(f"{name}: is {quoted(plain)}; it must be a table")
    return tuple(found), faults


class _TableParser:
    """Reads one table and takes down what is wrong with it."""

    def __init__(self, plain: Mapping[str, object], name: str, faults: list[str]) -> None:
        self._plain = plain
        self._name = name
        self._faults = faults

    def table(self) -> CorpusTable:
        for key in self._plain:
            if key not in KEYS:
                self._fault(f"unknown key {quoted(key)}{_allowed(KEYS, key)}")
        if "path" not in self._plain:
            self._fault("path is missing: a file, a folder, a glob, or a list of them")
        return CorpusTable(
            paths=self._texts("path"),
            format=self._one_of("format", FORMATS),
            encoding=self._encoding(),
            delimiter=self._delimiter(),
            records=self._text("records"),
            set_name=self._one_of("set", [published.name for published in PUBLISHED]),
            layout=self._layout(),
            filter=self._filter(),
            sample=self._whole_number("sample", at_least=1),
            seed=self._whole_number("seed", at_least=0) or 0,
            transforms=self._transforms(),
        )

    def _layout(self) -> Layout:
        columns, languages = self._columns()
        context = columns.pop("context", (None,))[0]
        constants = {name: self._constant(name) for name in DEFAULTABLE if name in self._plain}
        return Layout(
            columns=columns,
            languages=languages,
            context=context,
            labels=self._labels(),
            constants={name: value for name, value in constants.items() if value is not None},
        )

    def _columns(self) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
        columns: dict[str, tuple[str, ...]] = {}
        languages: dict[str, str] = {}
        for name, where in self._subtable("columns").items():
            if name not in _COLUMNS:
                self._fault(f"columns: unknown field {quoted(name)}{_allowed(_COLUMNS, name)}")
            elif name == "prompt" and isinstance(where, Mapping):
                languages = {code: str(w) for code, w in where.items() if isinstance(w, str)}
                if len(languages) < len(where) or not where:
                    self._fault("columns: prompt must be a column, or language = column pairs")
            elif isinstance(where, str) or _is_text_list(where):
                columns[name] = (where,) if isinstance(where, str) else tuple(where)
            else:
                self._fault(f"columns: {name} is {quoted(where)}; it must be the name of a column")
        return columns, languages

    def _labels(self) -> tuple[tuple[str, Label], ...]:
        labels = []
        for pattern, value in self._subtable("labels").items():
            label = next((label for label in Label if label.value == value), None)
            if label is None:
                names = [label.value for label in Label]
                self._fault(f"labels: {quoted(pattern)} is {quoted(value)}{_allowed(names, value)}")
            else:
                labels.append((pattern, label))
        return tuple(labels)

    def _filter(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        conditions = []
        for column, value in self._subtable("filter").items():
            values = value if isinstance(value, list) else [value]
            if values and all(isinstance(v, str | int | float) for v in values):
                words = tuple(v if isinstance(v, str) else quoted(v) for v in values)
                conditions.append((column, words))
            else:
                self._fault(f"filter: {quoted(column)} must be a value, or a list of values")
        return tuple(conditions)

    def _constant(self, name: str) -> object:
        match name:
            case "label":
                return self._one_of(name, [label.value for label in Label])
            case "severity":
                number = self._whole_number(name, at_least=1)
                if number is not None and number > 5:
                    self._fault(f"severity is {number}; it must be from 1 to 5")
                return number
            case "tags":
                return list(self._texts(name)) or None
        return self._text(name)

    def _transforms(self) -> tuple[str, ...]:
        known = (NONE, *TRANSFORMS)
        names = tuple(dict.fromkeys(self._texts("transforms")))
        for name in names:
            if name not in known:
                self._fault(f"transforms: {quoted(name)} is unknown{_allowed(known, name)}")
        return tuple(name for name in names if name in known)

    def _encoding(self) -> str | None:
        name = self._text("encoding")
        if name is None:
            return None
        try:
            codecs.lookup(name).name.encode("ascii").decode(name)
        except (LookupError, ValueError, TypeError):
            self._fault(f'encoding: {quoted(name)} is not known; such as "utf-16" or "latin-1"')
            return None
        return name

    def _delimiter(self) -> str | None:
        delimiter = self._text("delimiter")
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
            self._fault(f'delimiter is {quoted(delimiter)}; it must be one sign, such as ";"')
            return None
        return delimiter

    def _text(self, key: str) -> str | None:
        value = self._plain.get(key)
        if value is None or (isinstance(value, str) and value):
            return value
        self._fault(f"{key} is {quoted(value)}; it must be text")
        return None

    def _texts(self, key: str) -> tuple[str, ...]:
        value = self._plain.get(key, [])
        if isinstance(value, str) and value:
            return (value,)
        if _is_text_list(value) or value == []:
            return tuple(value)
        self._fault(f"{key} is {quoted(value)}; it must be text, or a list of texts")
        return ()

    def _one_of(self, key: str, allowed: Iterable[str]) -> str | None:
        value = self._text(key)
        names = tuple(allowed)
        if value is None or value in names:
            return value
        self._fault(f"{key} is {quoted(value)}{_allowed(names, value)}")
        return None

    def _whole_number(self, key: str, *, at_least: int) -> int | None:
        value = self._plain.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value >= at_least:
            return value
        self._fault(f"{key} is {quoted(value)}; it must be a whole number from {at_least} on")
        return None

    def _subtable(self, key: str) -> Mapping[str, object]:
        value = self._plain.get(key, {})
        if isinstance(value, Mapping):
            return value
        self._fault(f"{key} is {quoted(value)}; it must be a table")
        return {}

    def _fault(self, what: str) -> None:
        self._faults.append(f"{self._name}: {what}")


def _is_text_list(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and bool(value) and all(isinstance(v, str) for v in value)


def _allowed(names: Iterable[str], value: object) -> str:
    known = tuple(names)
    close = did_you_mean(value, known) if isinstance(value, str) else ""
    return f"; allowed are {listing(known)}{close}"
