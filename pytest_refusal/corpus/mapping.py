"""Rows of any table to rows in our own fields, as a layout says. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase

from pytest_refusal.corpus.conversation import messages_of
from pytest_refusal.corpus.faults import MOST_NAMES, did_you_mean, listing, quoted
from pytest_refusal.corpus.fields import FIELDS
from pytest_refusal.corpus.layout import Layout, PairRule
from pytest_refusal.corpus.rows import Broken, Row
from pytest_refusal.escape import one_line
from pytest_refusal.prompt import Label

Fields = Mapping[str, object]

_LONGEST_NAME = 40

# What others call the prompt, the likeliest first.
_PROMPT_NAMES = (
    *("messages", "conversations", "conversation", "turns", "dialog", "question", "query"),
    *("instruction", "request", "goal", "text", "input", "content", "message", "behavior"),
)

#: What sets the cells of a table apart, where it is no comma.
_OTHER_DELIMITERS = {";": ";", "\t": "\\t", "|": "|"}


def own_layout(columns: tuple[str, ...]) -> Layout:
    """Return the layout of a table whose header has the names of our fields, in any case."""
    by_folded = {name.casefold(): name for name in columns}
    return Layout(columns={name: (by_folded[name],) for name in FIELDS if name in by_folded})


def missing_columns(layout: Layout, columns: tuple[str, ...]) -> list[str]:
    """Say what is wrong where a table lacks the columns that a layout names.

    columns: the header of the table.
    """
    header = set(columns)
    faults = []
    wanted = {"prompt": layout.columns.get("prompt", ()), **layout.columns}
    wanted |= {f"prompt in {code}": (where,) for code, where in layout.languages.items()}
    for name, places in wanted.items():
        if name == "prompt" and layout.languages:
            continue
        if not any(place in header or place.split(".")[0] in header for place in places):
            named = f": {listing(places)} is none of them" if places else ""
            close = did_you_mean(places[0], columns) if places else _misspelt(name, columns)
            if name == "prompt" and not places and not close:
                close = _no_header(columns)
            told = f"the table has no column for the {name}{named}; its columns are"
            under = "in pyproject.toml, under [[tool.pytest-refusal.corpora]]"
            if sign := _delimiter_in(columns):
                return [
                    f"{told} {listing(columns)}. Where its cells are set apart by another sign, say"
                    f' so {under}, as delimiter = "{sign}"'
                ]
            as_such = "" if close or places else f", as {mapping_of_prompt(columns)}"
            mapped_here = f"Columns are mapped {under}{as_such}"
            faults.append(f"{told} {listing(columns)}{close or '.'} {mapped_here}")
    return faults


def no_prompt_field(fields: tuple[str, ...]) -> str | None:
    """Say what is missing where objects have other fields than ours, and none for the prompt.

    fields: those of the objects.  Returns None where it may be a slip of one of our own.
    """
    others = [name for name in fields if name not in FIELDS]
    if "prompt" in fields or not others or _misspelt("prompt", fields):
        return None
    return (
        f'no prompt of this file has the field "prompt"; the fields are {listing(fields)}. Say'
        " which is which in pyproject.toml, under [[tool.pytest-refusal.corpora]], as "
        f"{mapping_of_prompt(tuple(others))}"
    )


def mapping_of_prompt(columns: tuple[str, ...]) -> str:
    """Return how a table would say what is the prompt, with the column that it probably is."""
    by_folded = {name.casefold(): name for name in reversed(columns)}
    likely = [by_folded[name] for name in _PROMPT_NAMES if name in by_folded]
    likely += [name for name in columns if "prompt" in name.casefold()]
    return f"columns = {{ prompt = {quoted((likely or columns)[0])} }}"


def _no_header(columns: tuple[str, ...]) -> str:
    folded = {column.casefold() for column in columns}
    if folded.isdisjoint(label.value for label in Label):
        return ""
    return ". The first row seems to be a prompt: a table begins with a header, prompt,label."


def _delimiter_in(columns: tuple[str, ...]) -> str | None:
    """Find what probably sets cells apart where the whole header is one cell."""
    if len(columns) != 1:
        return None
    return next((shown for sign, shown in _OTHER_DELIMITERS.items() if sign in columns[0]), None)


def misspelt_columns(layout: Layout, columns: tuple[str, ...]) -> dict[str, str]:
    """Find columns that nobody reads and that are named nearly as a field that is missing.

    columns: those of the table.  Returns the field by the column.
    """
    read = {place for places in layout.columns.values() for place in places}
    absent = [name for name in FIELDS if name not in {*layout.columns, *layout.constants}]
    found = {}
    for column in columns[:MOST_NAMES]:
        # Short words are near to one another by chance: "ids" is no "id".
        if column in read or not 4 <= len(column) <= _LONGEST_NAME:
            continue
        if close := get_close_matches(column.casefold(), absent, n=1, cutoff=0.8):
            found[column] = close[0]
    return found


def _misspelt(name: str, columns: tuple[str, ...]) -> str:
    close = (column for column in columns[:MOST_NAMES] if did_you_mean(column, (name,)))
    return next((f"; did you mean {quoted(name)} by {quoted(one)}?" for one in close), "")


def mapped(
    rows: Iterator[Row | Broken], layout: Layout, keep: Callable[[Fields], bool]
) -> Iterator[Row | Broken]:
    """Give rows the names of our fields; empty values and other columns go.

    keep: which rows count, by their own columns.
    A table with a column for each language gives a row for each of them.
    """
    pair_of = _pairing(layout.pairs)
    label_of = _labelling(layout.labels)
    columns = tuple((name, where) for name, where in layout.columns.items() if name != "prompt")
    prompts = _prompt_places(layout)
    for row in rows:
        if isinstance(row, Broken):
            yield row
            continue
        theirs = row.fields
        pair_name = pair_of(theirs)  # counted before any row is left out
        if not keep(theirs):
            continue
        ours: dict[str, object] = dict(layout.constants)
        for name, places in columns:
            value = theirs.get(places[0])
            if not isinstance(value, str) or not value or value.isspace():
                value = _first(theirs, places)
            if name == "label" and value is not None:
                value = label_of(value)
            if value is not None:
                ours[name] = value
        if pair_name is not None:
            ours["pair"] = pair_name
        passage = None if layout.context is None else value_at(theirs, layout.context)
        for code, places in prompts:
            prompt = _prompt(theirs, places, passage)
            if prompt is None and (what := _several(theirs, places)) is not None:
                yield Broken(row.line, what)
                continue
            if code is None:
                ours["prompt"] = prompt
                yield Row(row.line, ours)
            else:
                yield Row(row.line, _in_language(ours, prompt, code))


def _prompt_places(layout: Layout) -> tuple[tuple[str | None, tuple[str, ...]], ...]:
    if layout.languages:
        return tuple((code, (where,)) for code, where in layout.languages.items())
    return ((None, layout.columns.get("prompt", ())),)


def _prompt(theirs: Fields, places: tuple[str, ...], passage: object) -> object:
    value = _first(theirs, places)
    if isinstance(value, str):
        if isinstance(passage, str) and passage.strip():
            return f"{passage}\n\n---\n\n{value}"
        return value
    # An empty prompt must be seen as such, so blanks are not passed over here.
    if value is None and any(value_at(theirs, place) is not None for place in places):
        return ""
    return messages_of(value)


def _several(theirs: Fields, places: tuple[str, ...]) -> str | None:
    """Say between which nested values a place cannot choose; None where there is no such."""
    for place in places:
        where = place.removesuffix(".?")
        among = value_at(theirs, where)
        if where != place and isinstance(among, Mapping) and len(among) > 1:
            names = list(among)[:8]
            return (
                f"it cannot be told which of {listing(names)} in `{where}` is the prompt; say it in"
                ' pyproject.toml, under [[tool.pytest-refusal.corpora]], as set = "promptfoo" and'
                f' columns = {{ prompt = "{where}.{one_line(str(names[0]), 40)}" }}'
            )
    return None


def _in_language(ours: Fields, prompt: object, code: str) -> dict[str, object]:
    fields = {**ours, "prompt": prompt, "language": code}
    if "id" in ours:
        fields["id"] = f"{ours['id']}-{code}"
    return fields


def _first(fields: Fields, places: tuple[str, ...]) -> object:
    for place in places:
        value = fields.get(place)
        if value is None and "." in place:
            value = value_at(fields, place)
        if isinstance(value, str):
            if value and not value.isspace():
                return value
        elif value is not None:
            return _plain(value)
    return None


def value_at(fields: Fields, place: str) -> object:
    """Return what stands at a place: a column, or a dotted path into nested values."""
    value = fields.get(place)
    if value is None and "." in place:
        return _walk(fields, place.split("."))
    return value


def _walk(value: object, path: list[str]) -> object:
    for number, part in enumerate(path):
        if isinstance(value, Mapping) and part == "?":
            value = next(iter(value.values())) if len(value) == 1 else None
        elif isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part == "*":
            found = (_walk(item, path[number + 1 :]) for item in value)
            return [item for item in found if item is not None]
        elif isinstance(value, list) and part.isdecimal() and len(part) < 6:
            value = value[int(part)] if int(part) < len(value) else None
        else:
            return None
    return value


def _plain(value: object) -> object:
    # What a table calls 1 or true is a word to us.
    return quoted(value) if isinstance(value, int | float) else value


def _labelling(patterns: tuple[tuple[str, Label], ...]) -> Callable[[object], object]:
    if not patterns:
        return lambda value: value
    folded = tuple((pattern.casefold(), label.value) for pattern, label in patterns)
    known: dict[str, str | None] = {}

    def label_of(value: object) -> object:
        for word in value if isinstance(value, list) else [value]:
            text = word.strip().casefold() if isinstance(word, str) else quoted(_plain(word))
            if text not in known:
                known[text] = next((lab for pat, lab in folded if fnmatchcase(text, pat)), None)
            if known[text] is not None:
                return known[text]
        # Not among the patterns: left for the check of the prompt to name. Of a list none tells.
        return None if isinstance(value, list) else value

    return label_of


def _pairing(rule: PairRule | None) -> Callable[[Fields], str | None]:
    if rule is None:
        return lambda _: None
    seen: Counter[str] = Counter()

    def pair_of(fields: Fields) -> str | None:
        kind = fields.get(rule.column)
        if not isinstance(kind, str) or kind not in rule.group_of:
            return None
        seen[kind] += 1
        return f"{rule.group_of[kind]}-{seen[kind]}"

    return pair_of
