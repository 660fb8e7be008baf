"""Hostile text made safe: one function for each place that text is written to. No I/O.

What comes from a model or a corpus may hold terminal escapes, control characters, lone
surrogates and text that turns the writing direction around.
"""

from __future__ import annotations

import re

# Everything below is written as escapes, since the characters themselves cannot be seen.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"  # invisible, and direction marks
    "\ud800-\udfff\ufffe\uffff"  # what UTF-8 or XML cannot hold
    "\ufff9-\ufffb\U000e0000-\U000e007f]"  # annotation and tag characters
)


def visible(text: str) -> str:
    """Return `text` with every character that acts rather than shows written as an escape.

    Line feeds and tabs stay.  The result can be encoded in UTF-8 and stand in XML 1.0.
    """
    return _UNSAFE.sub(_escape, text)


def one_line(text: str, limit: int | None = None) -> str:
    """Return `visible` text in one line, cut to `limit` characters with "..." at the end."""
    if limit is not None and len(text) > limit * 2 + 64:
        text = text[: limit * 2 + 64]
    line = visible(text).replace("\n", "\\n").replace("\t", "\\t")
    if limit is not None and len(line) > limit:
        return line[: max(limit - 3, 0)] + "..."
    return line


def encodable(text: str, encoding: str) -> str:
    """Return `text` with what `encoding` lacks written as escapes."""
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
