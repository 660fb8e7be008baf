"""A response as the rules see it: lower case, plain marks, and sentences.

A view has the length of the text, so that its offsets are those of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

from pytest_refusal.classifier.reading import lower_in_place
from pytest_refusal.classifier.sentences import sentences_of

_APOSTROPHES = "\u2019\u2018\u02bc\uff07\u00b4\u2032"
# Emphasis, headings and spaces that are none of the usual ones.
_SPACED = "*_#\n\r\t\u00a0\u202f\u3000\u200b"
_PLAIN = tuple([(sign, "'") for sign in _APOSTROPHES] + [(sign, " ") for sign in _SPACED])
# What cannot be in a word becomes a space.
_APART = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in "'-")}
# The same tables for bytes (of which those of ASCII are used): several times as fast.
_LATIN = "".join(map(chr, range(128))).ljust(256)
_ASCII_FOLDED = _LATIN.lower().translate(dict.fromkeys(map(ord, _SPACED), " ")).encode()
_ASCII_APART = _LATIN.translate(_APART).encode()
_NO_WORD = re.compile(r"[^\w' -]")
_LABEL = re.compile(
    r"[^\w<]*(?:(?:the )?(?:assistant|ai|bot|chatbot|model|answer|response|[a-z]{2,12}gpt)\s*:\W*)?"
)
_BREAK = re.compile(r"<br ?/?>")


class View:
    """A text, folded for the rules, with its sentences.

    raw: the text, with an end of line for each `<br>`; the same length.
    padded: the text after one space.
    words: the text with a space for each character that is in no word.
    has_fence: whether there is a mark around code.
    begin: where the first word begins, past a label such as "Assistant:".
    solid_length: the length without the blanks around the text.
    starts: where each sentence begins, 0 for the first.
    """

    __slots__ = (
        "begin",
        "has_fence",
        "is_ascii",
        "padded",
        "raw",
        "sentences",
        "solid_length",
        "starts",
        "text",
        "words",
    )

    def __init__(self, text: str) -> None:
        # One character is sought the quickest: most texts hold none of these.
        if "<" in text and "<br" in text:
            text = _BREAK.sub(_as_line_end, text)
        self.raw = text
        self.text = fold(text)
        self.is_ascii = text.isascii()
        self.has_fence = "`" in text and "```" in text
        self.padded = " " + self.text
        self.words = words_of(self.text)
        label = _LABEL.match(self.text)
        self.begin = label.end() if label else 0
        self.solid_length = len(text.strip())
        self.sentences = sentences_of(text)
        self.starts = [start for start, _ in self.sentences]
        self.starts[0] = 0

    def sentence_at(self, offset: int) -> int:
        """Return the index of the sentence that holds `offset`."""
        return bisect_right(self.starts, offset) - 1


def _as_line_end(match: re.Match[str]) -> str:
    return "\n".ljust(len(match[0]))


def fold(text: str) -> str:
    """Return `text` in lower case, with plain apostrophes and without emphasis; same length."""
    if text.isascii():
        return text.encode().translate(_ASCII_FOLDED).decode()
    view = lower_in_place(text)
    # Few of these stand in one text: to replace them one by one is faster than to translate.
    for sign, plain in _PLAIN:
        if sign in view:
            view = view.replace(sign, plain)
    return view


def words_of(folded: str) -> str:
    """Put a space for each character of a folded text that is in no word."""
    if folded.isascii():
        return folded.encode().translate(_ASCII_APART).decode()
    return _NO_WORD.sub(" ", folded)


def has_any(text: str, words: Iterable[str]) -> bool:
    """Return whether one of `words` stands in `text`."""
    for word in words:  # noqa: SIM110 (a loop takes half the time of a generator here)
        if word in text:
            return True
    return False
