"""The tables `[[tool.pytest-refusal.corpora]]`: how to read files that are not in our form.

From plain data to frozen values, with every fault at once. No I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pytest_refusal.corpus.faults import quoted
from pytest_refusal.corpus.fields import DEFAULTABLE, FIELDS
from pytest_refusal.corpus.formats import FORMATS
from pytest_refusal.corpus.layout import Layout
from pytest_refusal.corpus.published import PUBLISHED
from pytest_refusal.corpus.transform import NONE, TRANSFORMS
from pytest_refusal.escape import one_line
from pytest_refusal.prompt import Label
from pytest_refusal.table_reader import TableReader, closest, shown

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

#: More than any corpus has; also the largest seed.
LARGEST_SAMPLE = 2**31


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


def parse_corpus_tables(
    tables: object, *, where: str = "corpora"
) -> tuple[tuple[CorpusTable, ...], list[str]]:
    """Read the value of `corpora`; returns what could be read, and a line for each fault.

    where: how the faults call it; the tables in it count from 1.
    """
    if not isinstance(tables, list):
        return (), [f"{where}: must be a list of tables, [[...corpora]], not {shown(tables)}"]
    faults = [
        f"{where}[{number}]: must be a table, not {shown(plain)}"
        for number, plain in enumerate(tables, start=1)
        if not isinstance(plain, Mapping)
    ]
    found = tuple(
        _read_table(plain, TableReader(plain, f"{where}[{number}]", faults))
        for number, plain in enumerate(tables, start=1)
        if isinstance(plain, Mapping)
    )
    return found, faults


def _read_table(plain: Mapping[str, object], reader: TableReader) -> CorpusTable:
    if "path" not in reader:
        reader.fault("path", "is missing: a file, a folder, a glob, or a list of them")
    table = CorpusTable(
        paths=reader.text_or_list("path"),
        format=_one_of(reader, "format", FORMATS),
        encoding=_encoding(reader),
        delimiter=_delimiter(reader, plain),
        records=reader.text("records"),
        set_name=_one_of(reader, "set", [published.name for published in PUBLISHED]),
        layout=_layout(reader),
        filter=_filter(reader),
        sample=reader.integer("sample", None, low=1, high=LARGEST_SAMPLE),
        seed=reader.integer("seed", 0, low=0, high=LARGEST_SAMPLE),
        transforms=_transforms(reader),
    )
    reader.refuse_unknown()
    return table


def _layout(reader: TableReader) -> Layout:
    columns, languages = _columns(reader)
    context = columns.pop("context", (None,))[0]
    constants = {name: _constant(reader, name) for name in DEFAULTABLE}
    return Layout(
        columns=columns,
        languages=languages,
        context=context,
        labels=_labels(reader),
        constants={name: value for name, value in constants.items() if value is not None},
    )


def _columns(reader: TableReader) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    columns: dict[str, tuple[str, ...]] = {}
    languages: dict[str, str] = {}
    for name, place in (reader.table("columns") or {}).items():
        key = f"columns.{name}"
        if name not in _COLUMNS:
            known = ", ".join(_COLUMNS)
            reader.fault(key, f"unknown field{closest(name, _COLUMNS)} (known: {known})")
        elif name == "prompt" and isinstance(place, Mapping):
            languages = {code: str(w) for code, w in place.items() if isinstance(w, str)}
            if len(languages) < len(place) or not place:
                reader.fault(key, "must be a column, or a table of language = column")
        elif isinstance(place, str) and place:
            columns[name] = (place,)
        elif isinstance(place, list) and place and all(isinstance(w, str) for w in place):
            columns[name] = tuple(place)
        else:
            reader.fault(key, f"must be a column or a list of columns, not {shown(place)}")
    return columns, languages


def _labels(reader: TableReader) -> tuple[tuple[str, Label], ...]:
    known = {label.value: label for label in Label}
    labels = []
    for pattern, value in (reader.table("labels") or {}).items():
        if isinstance(value, str) and value in known:
            labels.append((pattern, known[value]))
        else:
            key = f"labels.{one_line(pattern, 60)}"
            reader.fault(key, f"must be one of {', '.join(known)}, not {shown(value)}")
    return tuple(labels)


def _filter(reader: TableReader) -> tuple[tuple[str, tuple[str, ...]], ...]:
    conditions = []
    for column, value in (reader.table("filter") or {}).items():
        values = value if isinstance(value, list) else [value]
        if values and all(isinstance(v, str | int | float) for v in values):
            words = tuple(v if isinstance(v, str) else quoted(v) for v in values)
            conditions.append((column, words))
        else:
            reader.fault(f"filter.{one_line(column, 60)}", "must be a value, or a list of values")
    return tuple(conditions)


def _constant(reader: TableReader, name: str) -> object:
    match name:
        case "label":
            return _one_of(reader, name, [label.value for label in Label])
        case "severity":
            return reader.integer(name, None, low=1, high=5)
        case "tags":
            return list(reader.text_or_list(name)) or None
    return reader.text(name)


def _transforms(reader: TableReader) -> tuple[str, ...]:
    known = (NONE, *TRANSFORMS)
    names = tuple(dict.fromkeys(reader.text_or_list("transforms")))
    for name in names:
        if name not in known:
            what = f"must be of {', '.join(known)}, not {shown(name)}{closest(name, known)}"
            reader.fault("transforms", what)
    return tuple(name for name in names if name in known)


def _encoding(reader: TableReader) -> str | None:
    name = reader.text("encoding")
    if name is None:
        return None
    try:
        # Some codecs, such as base64, are known and give no text.
        "a".encode(name)
    except (LookupError, ValueError):
        what = f"must be a known encoding, such as utf-16 or latin-1, not {shown(name)}"
        reader.fault("encoding", what)
        return None
    return name


def _delimiter(reader: TableReader, plain: Mapping[str, object]) -> str | None:
    # Not read as a text: a tab is white space.
    value = plain.get("delimiter") if "delimiter" in reader else None
    if value is None or (isinstance(value, str) and len(value) == 1 and value not in '"\r\n'):
        return value
    reader.fault("delimiter", f'must be one sign, such as ";", not {shown(value)}')
    return None


def _one_of(reader: TableReader, key: str, allowed: Iterable[str]) -> str | None:
    value = reader.text(key)
    known = tuple(allowed)
    if value is None or value in known:
        return value
    what = f"must be one of {', '.join(known)}, not {shown(value)}{closest(value, known)}"
    reader.fault(key, what)
    return None
