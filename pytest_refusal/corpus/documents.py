"""The shapes that a JSON or YAML document may have. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pytest_refusal.corpus.faults import UnreadableError, did_you_mean, listing, quoted
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
    close = next((hint for key in members if (hint := did_you_mean(key, _OWN_KEYS))), ".")
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
    rows: list[Row | Broken] = []
    defaults: Row | None = None
    prompts: Member | None = None
    for key, member in members.items():
        if key == "defaults" and isinstance(member.value, Mapping):
            defaults = Row(member.line, member.value)
        elif key == "prompts" and isinstance(member.value, list):
            prompts = member
        elif key in _OWN_KEYS:
            wanted = "a list" if key == "prompts" else "an object"
            rows.append(Broken(member.line, f"{quoted(key)} must be {wanted}"))
        else:
            close = did_you_mean(key, _OWN_KEYS)
            what = f"unknown key {quoted(key)}; allowed are {listing(_OWN_KEYS)}{close}"
            rows.append(Broken(member.line, what))
    if prompts is not None:
        rows.extend(_rows(prompts))
    return Sheet(rows=iter(rows), ours=True, defaults=defaults)


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
