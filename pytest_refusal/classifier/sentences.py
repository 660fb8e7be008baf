"""Where the sentences of a response stand: a mark, an empty line or an item of a list ends them."""

from __future__ import annotations

import re

# One class first, then what must follow: the search then skips all other characters at once.
_BOUNDARY = re.compile(
    r"[.!?\u2026\u3002\uff01\uff1f\u0964\u061f\n](?:"
    r"(?<=[.!?\u2026])[.!?\u2026]*[\"'\u201d\u2019)\]*_]*(?=\s)"
    r"|(?<=[\u3002\uff01\uff1f\u0964\u061f])[\"'\u201d\u2019\u300d\u300f\uff09*]*"
    r"|(?<=\n)[ \t\r]*\n"
    r"|(?<=\n)(?=[ \t]*(?:[-\u2022*+#]|\d{1,3}[.)])[ \t])"
    r")"
)
# The same for a text in plain ASCII, in which "!" and "?" were made points: a search for one
# character is the quickest.
_POINT = re.compile(r"\.\.*+[\"')\]*_]*+(?=\s)")
_LINE_END = re.compile(r"\n(?:[ \t\r]*+\n|(?=[ \t]*+(?:[-*+#]|\d{1,3}+[.)])[ \t]))")


def sentences_of(text: str) -> list[tuple[int, int]]:
    """Return where each sentence begins and ends: at least one, and no blank one beside it."""
    found: list[tuple[int, int]] = []
    start = 0
    for end in _ends(text):
        if end - start < 5 and not text[start:end].strip(" \n\t.)*-0123456789"):
            continue  # the number of a list item
        if not text[start:end].isspace():
            found.append((start, end))
        start = end
    if text[start:].strip():
        found.append((start, len(text)))
    return found or [(0, len(text))]


def _ends(text: str) -> list[int]:
    if not text.isascii():
        return [match.end() for match in _BOUNDARY.finditer(text)]
    pointed = text.replace("!", ".").replace("?", ".")
    ends = [match.end() for match in _POINT.finditer(pointed)]
    if "\n" in text:
        ends += [match.end() for match in _LINE_END.finditer(text)]
        ends.sort()
    return ends
