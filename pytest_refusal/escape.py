"""Hostile text made safe: one function for each place that text is written to. No I/O.

What comes from a model or a corpus may hold terminal escapes, control characters, lone
surrogates and text that turns the writing direction around.
"""

from __future__ import annotations

import html
import re

# Everything below is written as escapes, since the characters themselves cannot be seen.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"  # invisible, and direction marks
    "\ud800-\udfff\ufffe\uffff"  # what UTF-8 or XML cannot hold
    "\ufff9-\ufffb\U000e0000-\U000e007f]"  # annotation and tag characters
)

# What spreadsheets take for a formula, also after white space and in full width.
_FORMULA = re.compile("\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\n]")
# The longer ones first; a `&`, `<` or `>` becomes an entity, other marks get a backslash.
_MARKUP = re.compile(r"(?i)www\.|(?:ftp|https?|mailto|xmpp):|gh-(?=[0-9])|[\\`*_\[\]<>&|~$#!@{}]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BACKTICKS = re.compile("`+")


def visible(text: str) -> str:
    """Return `text` with every character that acts rather than shows written as an escape.

    Line feeds and tabs stay.  The result can be encoded in UTF-8 and stand in XML 1.0.
    """
    # Most text is plain, and these looks at it are ten times as fast as the search.
    if text.isascii() and (
        text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()
    ):
        return text
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


def html_text(text: str) -> str:
    """Return `visible` text for the content, or a quoted attribute, of HTML and XML."""
    return html.escape(visible(text))


def csv_cell(text: str) -> str:
    """Return `visible` text that no spreadsheet takes for a formula.

    What could be one gets an apostrophe in front.  Source: OWASP, "CSV Injection".
    """
    cell = visible(text)
    return f"'{cell}" if _FORMULA.match(cell) else cell


def markdown_inline(text: str, limit: int | None = None) -> str:
    """Return `one_line` text that stays text inside a paragraph or a table of Markdown.

    No markup, no HTML, no link, no mention of anybody; not for the beginning of a line.
    """
    return _MARKUP.sub(_plain_markup, one_line(text, limit))


def markdown_block(text: str) -> str:
    """Return `visible` text as a fenced block of Markdown, which nothing inside can close."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{visible(text)}\n{fence}"


def workflow_data(text: str) -> str:
    """Return `visible` text for the message of a workflow command of GitHub Actions."""
    return visible(text).replace("%", "%25").replace("\n", "%0A")


def workflow_property(text: str) -> str:
    """Return `visible` text for a property, such as the file, of a workflow command."""
    return workflow_data(text).replace(":", "%3A").replace(",", "%2C")


def plot_label(text: str, limit: int | None = None) -> str:
    """Return `one_line` text in which matplotlib sees no formula."""
    return one_line(text, limit).replace("$", r"\$")


def _plain_markup(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) == 1 and found not in "@#":
        return _ENTITIES.get(found, f"\\{found}")
    # A zero-width space: GitHub finds mentions, links and numbers in the text that is shown.
    head, tail = (found[:-1], found[-1]) if found.endswith(".") else (found, "")
    return f"\\{head}&#8203;" if head == "#" else f"{head}&#8203;{tail}"


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
