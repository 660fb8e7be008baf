"""Read TOML of the plainest kind, several times as fast as the whole language.

Known are `[defaults]` and `[[prompt]]` tables of bare keys with strings without escapes, small
whole numbers and comments: what a program writes that has 100,000 prompts to write.  A document
with anything else is left to `tomllib`; one that is read here comes out the same there.  No I/O.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from sys import intern

# One line, or a key with a string of several lines.  Nothing is tried twice.
_STATEMENT = re.compile(
    r'''
    [ \t]*+
    (?: (?P<header> \[\[ [ \t]*+ prompt [ \t]*+ \]\] | \[ [ \t]*+ defaults [ \t]*+ \] )
      | (?P<key> [A-Za-z0-9_-]++ ) [ \t]*+ = [ \t]*+
        (?: """ \n? (?P<long> (?: [^"\\\x00-\x08\x0b-\x1f\x7f]++ | "{1,2} (?!") )*+ ) """ (?!")
          | " (?P<basic> [^"\\\x00-\x08\x0a-\x1f\x7f]*+ ) "
          | ' (?P<literal> [^'\x00-\x08\x0a-\x1f\x7f]*+ ) '
          | (?P<number> -? [1-9] [0-9]{0,8} | 0 )
        )
    )?+
    [ \t]*+ (?: \# [^\x00-\x08\x0a-\x1f\x7f]*+ )?+ (?: \n | \Z )
    ''',
    re.VERBOSE,
)


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
            table[key] = int(value) if kind == "number" else value
            if kind == "long":
                line += found[0].count("\n") - 1
        line += 1
    return tables
