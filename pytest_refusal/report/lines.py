"""Lines for a terminal: how they stand out, how wide they are, where they break. Pure."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_refusal.escape import encodable, one_line

_MOST_NAMED = 10

# A part in parentheses, or what follows a semicolon, stays together where it can.
_JOINT = re.compile(r"(?<=;) | (?=\()")

# A number stays with what it is the number of: "p = 0.25", "2/17 = 0.118".
_EQUATION = re.compile(r"(?<=[0-9p]) ([=<]) (?=[0-9])")

# What no line holds, since `one_line` escapes it, and where none is broken.
_KEPT = "\0"


class Style(StrEnum):
    """How a line stands out; each also says in words what its colour says."""

    PLAIN = "plain"
    STRONG = "strong"
    GOOD = "good"
    BAD = "bad"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the summary.  is_whole: whether it must not be broken, whatever the width."""

    text: str
    style: Style = Style.PLAIN
    is_whole: bool = False

    def broken(self, width: int) -> Iterator[Line]:
        """Yield lines of at most `width` columns; only what has no space is longer."""
        if self.is_whole or display_width(self.text) <= width:
            yield self
            return
        indent = " " * (len(self.text) - len(self.text.lstrip()) + 4)
        row = ""
        for part in _JOINT.split(self.text):
            if not row:
                row = part
            elif display_width(row) + 1 + display_width(part) <= width:
                row += f" {part}"
            else:
                yield from self._wrapped(row, width, indent)
                row = indent + part
        yield from self._wrapped(row, width, indent)

    def _wrapped(self, row: str, width: int, indent: str) -> Iterator[Line]:
        rows = textwrap.wrap(
            _EQUATION.sub(rf"{_KEPT}\1{_KEPT}", row),
            max(width, len(indent) + 20),
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from (Line(text=text.replace(_KEPT, " "), style=self.style) for text in rows)


def display_width(text: str) -> int:
    """Return how many columns a terminal needs for `text`."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def name_in(encoding: str, text: str, limit: int) -> str:
    """Return a name in one line of `limit` columns at most, with escapes for what is lacking.

    Escaped here and not when it is written, so that what stands in columns is measured as shown.
    """
    letters = [encodable(letter, encoding) for letter in one_line(text, limit)]
    width = sum(map(display_width, letters))
    if width <= limit:
        return "".join(letters)
    while letters and width > limit - 3:
        width -= display_width(letters.pop())
    return "".join(letters) + "..."


def padded(text: str, width: int) -> str:
    """Return `text` with spaces up to `width` columns."""
    return text + " " * (width - display_width(text))


def listing(names: Sequence[str]) -> str:
    """Name the first few, and say how many more there are."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
