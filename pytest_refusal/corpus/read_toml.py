"""Read TOML: `[[prompt]]` tables and an optional `[defaults]`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from itertools import chain

from pytest_refusal.corpus.decoding import LARGEST_BY_HAND, Source
from pytest_refusal.corpus.faults import UnreadableError, did_you_mean, listing, quoted
from pytest_refusal.corpus.plain_toml import plain_tables
from pytest_refusal.corpus.rows import Broken, Dialect, Row, Sheet

_TABLES = ("defaults", "prompt")
_LINE = re.compile(r" \(at line (\d+), column \d+\)$")

# The parts of a document in which brackets may mean a header, or not. The document has been
# parsed before, so every string here is closed.
_PARTS = re.compile(
    r'''
      (?P<passed> \#[^\n]*
        | """ (?: [^"\\] | \\. | "(?!"") )* """ "{0,2}
        | \'\'\' (?: [^'] | '(?!'') )* \'\'\' '{0,2}
        | " (?: [^"\\\n] | \\. )* "
        | ' [^'\n]* ' )
    | (?P<prompt> ^[ \t]* \[\[ [ \t]* (?: prompt | "prompt" | 'prompt' ) [ \t]* \]\] )
    | (?P<defaults> ^[ \t]* \[ [ \t]* (?: defaults | "defaults" | 'defaults' ) [ \t]* \] )
    | (?P<opened> [\[{] )
    | (?P<closed> [\]}] )
    ''',
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


#: Dots in a key; for each of them the parser keeps all that stands before it.
MOST_DOTS = 64

# Comments and strings. One that is never closed goes to its end all the same, and nothing is
# tried twice: this looks at text that has not been parsed.
_TEXTS = re.compile(
    r'''
      \#[^\n]*+
    | """ (?: [^"\\]++ | \\.? | "(?!"") )*+ (?: """ "{0,2} )?
    | \'\'\' (?: [^']++ | '(?!'') )*+ (?: \'\'\' '{0,2} )?
    | " (?: [^"\\\n]++ | \\. )*+ "?
    | ' [^'\n]*+ '?
    ''',
    re.VERBOSE | re.DOTALL,
)
_LONG_KEY = re.compile(rf"(?:\.[^.,=\[\]{{}}\n]*+){{{MOST_DOTS + 1}}}")


def read_toml(source: Source, _dialect: Dialect) -> Sheet:
    """Read the prompts of a document, each at the line of its header."""
    text = source.whole(limit=LARGEST_BY_HAND)
    plain = plain_tables(text)
    if plain is not None:
        defaults = None if plain.defaults is None else Row(plain.defaults_line, plain.defaults)
        return Sheet(rows=map(Row, plain.lines, plain.prompts), ours=True, defaults=defaults)
    return _sheet(text)


def _sheet(text: str) -> Sheet:
    _check_keys(text)
    document = _parsed(text)
    lines = _header_lines(text)
    unknown = (key for key in document if key not in _TABLES)
    faults: list[Broken] = []
    defaults = document.get("defaults")
    at = lines["defaults"][0] if lines["defaults"] else 1
    if defaults is not None and not isinstance(defaults, dict):
        faults.append(Broken(at, f"defaults is {quoted(defaults)}; it must be a table, [defaults]"))
        defaults = None
    prompts = document.get("prompt", [])
    if not isinstance(prompts, list) or len(prompts) != len(lines["prompt"]):
        what = f"write each prompt under a header of its own, {listing(['[[prompt]]'])[1:-1]}"
        faults.append(Broken(1, what))
        prompts = []
    return Sheet(
        rows=chain(map(_unknown, unknown), faults, _rows(prompts, lines["prompt"])),
        ours=True,
        defaults=None if defaults is None else Row(at, defaults),
    )


def _unknown(key: str) -> Broken:
    close = did_you_mean(key, _TABLES)
    return Broken(1, f"unknown key {quoted(key)}; allowed are [defaults] and [[prompt]]{close}")


def _rows(prompts: list[object], lines: list[int]) -> Iterator[Row]:
    for line, fields in zip(lines, prompts, strict=True):
        if isinstance(fields, dict):
            yield Row(line, fields)


def _check_keys(text: str) -> None:
    # Most files have no such line, so that nothing else is looked at.
    if all(line.count(".") <= MOST_DOTS for line in text.split("\n")):
        return
    bare = _TEXTS.sub(lambda found: "\n" * found[0].count("\n"), text)
    if found := _LONG_KEY.search(bare):
        line = bare.count("\n", 0, found.start()) + 1
        raise UnreadableError(line, f"a key has more than {MOST_DOTS} dots")


def _parsed(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = _LINE.search(message)
        line = int(found[1]) if found else text.count("\n") + 1
        what = _LINE.sub("", message).removesuffix(" (at end of document)")
        raise UnreadableError(line, f"this is not TOML: {what}") from error
    except RecursionError as error:
        raise UnreadableError(1, "lists or tables are nested too deeply") from error
    except ValueError as error:  # Python refuses to read a number of thousands of digits
        raise UnreadableError(1, "a number has too many digits") from error


def _header_lines(text: str) -> dict[str, list[int]]:
    lines: dict[str, list[int]] = {"prompt": [], "defaults": []}
    depth = 0
    line, counted = 1, 0
    for part in _PARTS.finditer(text):
        match part.lastgroup:
            case "opened":
                depth += 1
            case "closed":
                depth -= 1
            case "prompt" | "defaults" as header if depth == 0:
                # Within a list that runs over several lines the same brackets are values.
                line += text.count("\n", counted, part.end())
                counted = part.end()
                lines[header].append(line)
    return lines
