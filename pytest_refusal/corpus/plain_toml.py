"""Read TOML of the plainest kind, several times as fast as the whole language.

Known are `[defaults]` and `[[prompt]]` tables of bare keys with strings, small whole numbers, lists
of strings, and comments: what a program writes that has 100,000 prompts to write.  A document with
anything else, such as a conversation, is left to `tomllib`; one that is read here comes out the
same there.  No I/O.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from sys import intern

_BASIC = r'(?: [^"\\\x00-\x08\x0a-\x1f\x7f]++ | \\["\\bfnrt] )*+'
_LONG_ESCAPE = r'\\ (?: ["\\bfnrt] | [ \t]*+ \n [ \t\n]*+ )'

# One line, or a key with a string of several lines.  Nothing is tried twice.
_STATEMENT = re.compile(
    rf"""
    [ \t]*+
    (?: (?P<header> \[\[ [ \t]*+ prompt [ \t]*+ \]\] | \[ [ \t]*+ defaults [ \t]*+ \] )
      | (?P<key> [A-Za-z0-9_-]++ ) [ \t]*+ = [ \t]*+
        (?: \"{{3}} \n?+
            (?P<long> (?: [^"\\\x00-\x08\x0b-\x1f\x7f]++ | {_LONG_ESCAPE} | "{{1,2}}+ (?!") )*+ )
            \"{{3}} (?!")
          | " (?P<basic> {_BASIC} ) "
          | ' (?P<literal> [^'\x00-\x08\x0a-\x1f\x7f]*+ ) '
          | (?P<number> -? [1-9] [0-9]{{0,8}} | 0 )
          | \[ [ \t]*+
            (?P<list> (?: " {_BASIC} " [ \t]*+ (?: , [ \t]*+ " {_BASIC} " [ \t]*+ )*+ )?+ )
            \]
        )
    )?+
    [ \t]*+ (?: \# [^\x00-\x08\x0a-\x1f\x7f]*+ )?+ (?: \n | \Z )
    """,
    re.VERBOSE,
)
_ELEMENT = re.compile(f'" ({_BASIC}) "', re.VERBOSE)
# The end of a line, with all white space behind it, or a sign.
_ESCAPE = re.compile(r"\\(?:[ \t]*\n[ \t\n]*|(.))")
_ESCAPED = {"": "", "b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


@dataclass(slots=True, kw_only=True)
class PlainTables:
    """The tables of a document, each prompt and the defaults with the line of its header."""

    prompts: list[dict[str, object]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    defaults: dict[str, object] | None = None
    defaults_line: int = 1


def plain_tables(text: str) -> PlainTables | None:
    """Read a document, with every line ending in a line feed; None where it is not so plain."""
    tables = PlainTables()
    table: dict[str, object] | None = None
    match, end = _STATEMENT.match, len(text)
    at, line = 0, 1
    while at < end:
        found = match(text, at)
        if found is None:
            return None
        at = found.end()
        kind = found.lastgroup
        if kind == "header":
            table = {}
            if found["header"].startswith("[["):
                tables.prompts.append(table)
                tables.lines.append(line)
            elif tables.defaults is None:
                tables.defaults, tables.defaults_line = table, line
            else:
                return None
        elif kind is not None:
            key, value = intern(found["key"]), found[kind]
            if table is None or key in table:
                return None
            table[key] = _VALUES[kind](value)
            if kind == "long":
                line += found[0].count("\n") - 1
        line += 1
    return tables


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED[found[1] or ""], text) if "\\" in text else text


def _elements(text: str) -> list[str]:
    return [_unescaped(element) for element in _ELEMENT.findall(text)]


_VALUES: Mapping[str, Callable[[str], object]] = {
    "long": _unescaped,
    "basic": _unescaped,
    "literal": str,
    "number": int,
    "list": _elements,
}
