"""Bytes to text: the encoding, the newlines, and an end to what has no end."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from io import TextIOWrapper
from typing import BinaryIO

from pytest_refusal.corpus.faults import UnreadableError

#: Characters in one line; nothing that is a prompt comes near.
LONGEST_LINE = 16 * 2**20

#: Characters in a file whose format can only be read as a whole.
LARGEST_WHOLE = 256 * 2**20

# Decoding marks bytes that are not in the encoding as these; the text itself cannot hold them.
_UNDECODED = re.compile("[\udc80-\udcff]")


class Source:
    """The text of one open file; to be closed.

    undecoded: the lines, from 1, that held bytes outside the encoding.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._text: TextIOWrapper | None = None
        self.undecoded: list[int] = []

    def lines(self, *, newline: str | None = None) -> Iterator[str]:
        r"""Read line by line.  newline: as for `open`; None makes every line end in "\\n".

        Raises UnreadableError for a line without end, and for UTF-16.
        """
        text = self._decoded(newline)
        number = 0
        while line := text.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise UnreadableError(number, f"the line is longer than {LONGEST_LINE} characters")
            if not line.isascii() and _UNDECODED.search(line):
                self.undecoded.append(number)
            yield line

    def whole(self) -> str:
        r"""Read all, with every line ending in "\\n".

        Raises UnreadableError for a file too large to be read at once, and for UTF-16.
        """
        text = self._decoded(None).read(LARGEST_WHOLE + 1)
        if len(text) > LARGEST_WHOLE:
            raise UnreadableError(
                1,
                f"the file has more than {LARGEST_WHOLE} characters; "
                "use JSONL or CSV, which are read line by line",
            )
        if not text.isascii() and _UNDECODED.search(text):
            lines = enumerate(text.split("\n"), start=1)
            self.undecoded.extend(n for n, line in lines if _UNDECODED.search(line))
        return text

    def close(self) -> None:
        """Let go of the file."""
        (self._text or self._stream).close()

    def _decoded(self, newline: str | None) -> TextIOWrapper:
        start = self._stream.read(2)
        self._stream.seek(0)
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise UnreadableError(1, "the file is in UTF-16; save it as UTF-8")
        self._text = TextIOWrapper(
            self._stream, encoding="utf-8-sig", errors="surrogateescape", newline=newline
        )
        return self._text
