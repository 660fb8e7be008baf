"""What is wrong with a corpus, in words for people. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from pytest_refusal.escape import one_line

#: How often one and the same fault is listed for a file before the rest is only counted.
LISTED = 20

#: Lines of faults for a person to read; the rest is only counted.
MOST_LINES = 1_000

#: Names in a sentence.
MOST_LISTED = 40

#: Columns or keys that are looked through for one that is meant.
MOST_NAMES = 1_000

_KINDS: dict[type, str] = {list: "a list", dict: "a table", type(None): "null"}


class Fault(NamedTuple):
    """One thing that is wrong, at the line (from 1) where the prompt begins."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{one_line(self.file)}:{self.line}: {one_line(self.what)}"


class UnreadableError(Exception):
    """The file cannot be read beyond this line."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


def fault_lines(faults: Iterable[Fault]) -> list[str]:
    """List the faults by file and line; what recurs all through a file is counted."""
    ordered = sorted(faults)
    total = Counter((fault.file, fault.what) for fault in ordered)
    listed: Counter[tuple[str, str]] = Counter()
    lines: list[str] = []
    for number, fault in enumerate(ordered):
        if len(lines) == MOST_LINES:
            lines.append(f"and {len(ordered) - number} more faults")
            break
        kind = (fault.file, fault.what)
        listed[kind] += 1
        if listed[kind] < LISTED or total[kind] == LISTED:
            lines.append(str(fault))
        elif listed[kind] == LISTED:
            lines.append(f"{fault} (and {total[kind] - LISTED} more prompts of this file)")
    return lines


def quoted(value: object) -> str:
    """Show a value from a file: text in quotes and clipped, anything else by its type."""
    if isinstance(value, str):
        return f'"{one_line(value, 60)}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 10**20:
        # Writing out a very long number takes quadratic time, and Python refuses it.
        return "a very large number"
    if isinstance(value, int | float):
        return str(value)
    return _KINDS.get(type(value), f"a {type(value).__name__}")


def listing(names: Iterable[str]) -> str:
    """Write names for a sentence: "a", "b" and "c"; of very many the first ones."""
    everything = list(names)
    shown = [quoted(name) for name in everything[:MOST_LISTED]]
    if more := everything[MOST_LISTED:]:
        return f"{', '.join(shown)} and {len(more)} more"
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """Return '; did you mean "x"?' for the closest of the allowed words, "" if none is close."""
    by_folded = {name.casefold(): name for name in allowed}
    close = get_close_matches(word[:80].strip().casefold(), list(by_folded), n=1, cutoff=0.6)
    return f"; did you mean {quoted(by_folded[close[0]])}?" if close else ""
