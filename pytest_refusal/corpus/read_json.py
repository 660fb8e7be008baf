"""Read JSON and JSONL, with the line where each prompt begins.

The standard library reads the values; the way from one prompt to the next is walked here,
since it tells no positions.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NoReturn

from pytest_refusal.corpus.decoding import LARGEST_DATA, Source
from pytest_refusal.corpus.documents import Member, sheet_of_members
from pytest_refusal.corpus.faults import UnreadableError, quoted
from pytest_refusal.corpus.rows import Broken, Dialect, Row, Sheet, row_of

_WHITE = " \t\n\r"
_SPACE = re.compile(f"[{_WHITE}]*")

#: Commas and opened lists and objects in a document, each of which may come to 70 bytes.
MOST_SIGNS = 20_000_000

#: Keys of a document that is no list, and elements of each of its lists.
MOST_MEMBERS = 10_000
MOST_ELEMENTS = 1_000_000


class _RefusedError(ValueError):
    """JSON as Python reads it, but not as it is defined, or not without loss."""


def read_jsonl(source: Source, _dialect: Dialect) -> Sheet:
    """Read one object a line; empty lines are passed over."""
    return Sheet(rows=_line_rows(source), ours=True)


def read_json(source: Source, dialect: Dialect) -> Sheet:
    """Read a list of objects or texts, or a document that has one."""
    text = _Text(_bounded(source.whole(limit=LARGEST_DATA)))
    if dialect.records is not None:
        text.descend(dialect.records.split("."))
        return Sheet(rows=_list_rows(text), ours=True)
    match text.peek():
        case "":
            raise UnreadableError(1, "the file is empty; JSON here is a list of prompts")
        case "[":
            return Sheet(rows=_list_rows(text, then_end=True), ours=True)
        case "{":
            members = text.document()
            text.end()
            return sheet_of_members(members)
    raise UnreadableError(
        text.line, 'JSON here is a list of prompts, or {"defaults": {}, "prompts": []}'
    )


def _line_rows(source: Source) -> Iterator[Row | Broken]:
    decoder = _decoder()
    for number, line in enumerate(source.lines(), start=1):
        text = line.strip(_WHITE)
        if not text:
            continue
        try:
            value, end = decoder.raw_decode(text)
        except (ValueError, RecursionError) as error:
            yield Broken(number, _in_words(error))
        else:
            if end == len(text):
                yield row_of(number, value)
            else:
                follows = quoted(text[end:].lstrip(_WHITE)[0])
                yield Broken(number, f"a line holds one object, and {follows} follows it")


def _bounded(text: str) -> str:
    if sum(map(text.count, "[{,")) > MOST_SIGNS:
        what = f"the document has more than {MOST_SIGNS} values; use JSONL, which may have more"
        raise UnreadableError(1, what)
    return text


def _list_rows(text: _Text, *, then_end: bool = False) -> Iterator[Row | Broken]:
    for line, value in text.elements():
        yield row_of(line, value)
    if then_end:
        text.end()


class _Text:
    """A JSON text and how far it has been read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._counted = 0
        self._decoder = _decoder()
        self.line = 1

    def peek(self) -> str:
        """Return the next character that is no white space, "" at the end."""
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
        self.line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._text[self._at : self._at + 1]

    def value(self) -> object:
        """Read the next value, whatever it is; `line` is where it begins."""
        self.peek()
        try:
            value, self._at = self._decoder.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            raise UnreadableError(error.lineno, _in_words(error)) from error
        except (ValueError, RecursionError) as error:
            raise UnreadableError(self.line, _in_words(error)) from error
        return value

    def elements(self) -> Iterator[tuple[int, object]]:
        """Read a list: each value with its line."""
        self._take("[")
        if self.peek() == "]":
            self._take("]")
            return
        while True:
            value = self.value()
            yield self.line, value
            if self._take(",", "]") == "]":
                return

    def members(self) -> Iterator[tuple[int, str]]:
        """Read an object: each key with its line; the caller reads the value."""
        self._take("{")
        if self.peek() == "}":
            self._take("}")
            return
        count = 0
        while True:
            if self.peek() != '"':
                self._expected("a key in double quotes")
            line = self.line
            count += 1
            if count > MOST_MEMBERS:
                raise UnreadableError(line, f"the document has more than {MOST_MEMBERS} keys")
            key = self.value()
            self._take(":")
            yield line, str(key)
            if self._take(",", "}") == "}":
                return

    def document(self) -> dict[str, Member]:
        """Read an object, with the lines of its lists."""
        members: dict[str, Member] = {}
        for line, key in self.members():
            if key in members:
                raise UnreadableError(line, _twice(key))
            if self.peek() == "[":
                elements = list(islice(self.elements(), MOST_ELEMENTS + 1))
                if len(elements) > MOST_ELEMENTS:
                    what = f"a list has more than {MOST_ELEMENTS} elements; use JSONL, or divide it"
                    raise UnreadableError(self.line, what)
                values = [value for _, value in elements]
                members[key] = Member(line, values, tuple(at for at, _ in elements))
            else:
                members[key] = Member(line, self.value())
        return members

    def descend(self, path: list[str]) -> None:
        """Go to the value that lies under these keys."""
        for number, part in enumerate(path, start=1):
            if self.peek() != "{" or all(key != part for key in self._keys_passing_over(part)):
                where = quoted(".".join(path[:number]))
                raise UnreadableError(self.line, f"there is no {where}, which `records` names")
        if self.peek() != "[":
            raise UnreadableError(self.line, f"{quoted('.'.join(path))} is no list of prompts")

    def end(self) -> None:
        """Make sure that nothing follows."""
        if self.peek():
            self._expected("the end of the file")

    def _keys_passing_over(self, wanted: str) -> Iterator[str]:
        for _, key in self.members():
            yield key
            if key != wanted:
                self.value()

    def _take(self, *signs: str) -> str:
        sign = self.peek()
        if sign not in signs or not sign:
            self._expected(" or ".join(quoted(sign) for sign in signs))
        self._at += 1
        return sign

    def _expected(self, what: str) -> NoReturn:
        found = self._text[self._at : self._at + 1]
        instead = quoted(found) if found else "the end of the file"
        raise UnreadableError(self.line, f"this is not JSON: expected {what}, found {instead}")


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _RefusedError(_twice(counts.most_common(1)[0][0]))
    return fields


def _twice(key: str) -> str:
    return f"the key {quoted(key)} stands twice in one object"


def _constant(name: str) -> NoReturn:
    msg = f"{name} is no value in JSON"
    raise _RefusedError(msg)


def _in_words(error: ValueError | RecursionError) -> str:
    match error:
        case json.JSONDecodeError():
            return f"this is not JSON: {error.msg} (column {error.colno})"
        case _RefusedError():
            return str(error)
        case RecursionError():
            return "lists or objects are nested too deeply"
    return "a number has too many digits"
