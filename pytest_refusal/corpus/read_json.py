"""Read JSON and JSONL, with the line where each prompt begins.

The standard library reads the values; the way from one prompt to the next is walked here,
since it tells no positions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NoReturn

from pytest_refusal.corpus.decoding import Source
from pytest_refusal.corpus.faults import UnreadableError, did_you_mean, listing, quoted
from pytest_refusal.corpus.rows import Broken, Row, Sheet

_KEYS = ("defaults", "prompts")
_WHITE = " \t\n\r"
_SPACE = re.compile(f"[{_WHITE}]*")


class _RefusedError(ValueError):
    """JSON as Python reads it, but not as it is defined, or not without loss."""


def read_jsonl(source: Source) -> Sheet:
    """Read one object a line; empty lines are passed over."""
    return Sheet(rows=_line_rows(source), ours=True)


def read_json(source: Source) -> Sheet:
    """Read a list of objects, or `{"defaults": {}, "prompts": []}`."""
    text = _Text(source.whole())
    match text.peek():
        case "":
            raise UnreadableError(1, "the file is empty; JSON here is a list of prompts")
        case "[":
            return Sheet(rows=_list_rows(text, text.elements(), then_end=True), ours=True)
        case "{":
            return _document(text)
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
                yield _row(number, value)
            else:
                yield Broken(
                    number,
                    f"a line holds one object, and {quoted(text[end:].lstrip()[0])} follows it",
                )


def _list_rows(
    text: _Text, elements: Iterator[tuple[int, object]], *, then_end: bool = False
) -> Iterator[Row | Broken]:
    for line, value in elements:
        yield _row(line, value)
    if then_end:
        text.end()


def _document(text: _Text) -> Sheet:
    rows: list[Row | Broken] = []
    defaults: Row | None = None
    seen: set[str] = set()
    for line, key in text.members():
        if key in seen:
            raise UnreadableError(line, f"the key {quoted(key)} stands twice in one object")
        seen.add(key)
        if key == "prompts" and text.peek() == "[":
            rows.extend(_list_rows(text, text.elements()))
            continue
        value = text.value()
        if key == "defaults" and isinstance(value, dict):
            defaults = Row(line, value)
        elif key in _KEYS:
            wanted = "a list" if key == "prompts" else "an object"
            rows.append(Broken(line, f"{quoted(key)} must be {wanted}"))
        else:
            close = did_you_mean(key, _KEYS)
            what = f"unknown key {quoted(key)}; allowed are {listing(_KEYS)}{close}"
            rows.append(Broken(line, what))
    text.end()
    return Sheet(rows=iter(rows), ours=True, defaults=defaults)


def _row(line: int, value: object) -> Row | Broken:
    if isinstance(value, dict):
        return Row(line, value)
    return Broken(line, f"a prompt is an object of fields, and this is {quoted(value)}")


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
        """Read the next value, whatever it is."""
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
            self.peek()
            line = self.line
            yield line, self.value()
            if self._take(",", "]") == "]":
                return

    def members(self) -> Iterator[tuple[int, str]]:
        """Read an object: each key with its line; the caller reads the value."""
        self._take("{")
        if self.peek() == "}":
            self._take("}")
            return
        while True:
            if self.peek() != '"':
                self._expected("a key in double quotes")
            line = self.line
            key = self.value()
            self._take(":")
            yield line, str(key)
            if self._take(",", "}") == "}":
                return

    def end(self) -> None:
        """Make sure that nothing follows."""
        if self.peek():
            self._expected("the end of the file")

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
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        msg = f"the key {quoted(twice)} stands twice in one object"
        raise _RefusedError(msg)
    return fields


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
