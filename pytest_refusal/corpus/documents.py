"""The shapes that a JSON or YAML document may have. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import NamedTuple

from pytest_refusal.corpus.faults import MOST_NAMES, UnreadableError, did_you_mean, listing, quoted
from pytest_refusal.corpus.promptfoo import MARKS, elsewhere, rows_of_tests
from pytest_refusal.corpus.rows import Broken, Row, Sheet, row_of

_OWN_KEYS = ("defaults", "prompts")
_FORMS = 'a list of prompts, {"defaults": {}, "prompts": []}, or a list for each column'


class Member(NamedTuple):
    """A value in a document, and where it stands.

    lines: where the elements of a list begin, () for anything else.
    """

    line: int
    value: object
    lines: tuple[int, ...] = ()


def sheet_of_list(member: Member) -> Sheet:
    """Return the rows of a list of prompts."""
    return Sheet(rows=_rows(member), ours=True)


def sheet_of_members(members: Mapping[str, Member]) -> Sheet:
    """Return the rows of a document that is no list.

    Known are our own form, columns, and the `tests` of promptfoo.
    Raises UnreadableError for any other.
    """
    own = any(key in _OWN_KEYS for key in members)
    if "tests" in members and (not own or MARKS & members.keys()):
        tests = members["tests"]
        if isinstance(tests.value, list):
            return _promptfoo(tests, members.get("defaultTest"))
        if isinstance(tests.value, str):
            raise UnreadableError(tests.line, elsewhere(tests.value))
    if own:
        return _own(members)
    lists = [member.value for member in members.values() if isinstance(member.value, list)]
    if len(lists) == len(members) and any(map(_holds_cells, lists)):
        return _columns(members)
    keys = listing(list(members)[:8]) or "no keys"
    hints = (did_you_mean(key, _OWN_KEYS) for key in islice(members, MOST_NAMES))
    close = next(filter(None, hints), ".")
    raise UnreadableError(
        next((member.line for member in members.values()), 1),
        f"the document must be {_FORMS}; it has {keys}{close} Where the list stands elsewhere, "
        'say so in pyproject.toml, under [[tool.pytest-refusal.corpora]], as records = "a.b"',
    )


def _promptfoo(tests: Member, default: Member | None) -> Sheet:
    values = tests.value if isinstance(tests.value, list) else []
    placed = zip(tests.lines, values, strict=True)
    return Sheet(rows=rows_of_tests(placed, default and default.value), ours=True)


def _holds_cells(values: list[object]) -> bool:
    # A list of prompts under a misspelt name holds objects, or nothing, and is no column.
    return any(not isinstance(value, Mapping) for value in values)


def _own(members: Mapping[str, Member]) -> Sheet:
    defaults = members.get("defaults")
    of_all = None
    if defaults is not None and isinstance(defaults.value, Mapping):
        of_all = Row(defaults.line, defaults.value)
    prompts = members.get("prompts")
    rows = () if prompts is None else _rows(prompts)
    return Sheet(rows=chain(_misplaced(members), rows), ours=True, defaults=of_all)


def _misplaced(members: Mapping[str, Member]) -> Iterator[Broken]:
    kinds: Mapping[str, tuple[type, str]] = {
        "defaults": (Mapping, "an object"),
        "prompts": (list, "a list"),
    }
    for key, member in members.items():
        if key not in kinds:
            close = did_you_mean(key, _OWN_KEYS)
            what = f"unknown key {quoted(key)}; allowed are {listing(_OWN_KEYS)}{close}"
            yield Broken(member.line, what)
        elif not isinstance(member.value, kinds[key][0]):
            yield Broken(member.line, f"{quoted(key)} must be {kinds[key][1]}")


def _columns(members: Mapping[str, Member]) -> Sheet:
    filled = {
        key: (member.value, member.lines)
        for key, member in members.items()
        if isinstance(member.value, list)
    }
    longest = max((len(values) for values, _ in filled.values()), default=0)
    lines = max((lines for _, lines in filled.values()), key=len, default=())
    rows = (
        Row(
            lines[index],
            {key: values[index] for key, (values, _) in filled.items() if index < len(values)},
        )
        for index in range(longest)
    )
    return Sheet(rows=rows, ours=False, columns=tuple(members))


def _rows(member: Member) -> Iterator[Row | Broken]:
    if isinstance(member.value, list):
        for line, value in zip(member.lines, member.value, strict=True):
            yield row_of(line, value)
