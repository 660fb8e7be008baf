"""Bytes to text: the encoding, the newlines, and an end to what has no end."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from io import BufferedReader, TextIOWrapper

from pytest_refusal.corpus.faults import UnreadableError

#: Characters in one line; nothing that is a prompt comes near.
LONGEST_LINE = 16 * 2**20

#: Characters in a file that is read line by line.
LARGEST = 2**30

#: Lines in such a file; a packed one may stand for very many empty ones.
MOST_LINES = 20_000_000

#: Bytes in a file that is read as a whole: data, and what is written by hand.
LARGEST_DATA = 256 * 2**20
LARGEST_BY_HAND = 32 * 2**20

_DEFAULT = "utf-8-sig"

# Decoding marks bytes that are not in the encoding as these; the text itself cannot hold them.
_UNDECODED = re.compile("[\udc80-\udcff]")


class Source:
    """One open file, as bytes or as text; to be closed.

    encoding: None for UTF-8, with or without a byte order mark.
    undecoded: the lines, from 1, that held bytes outside the encoding.
    """

    def __init__(self, stream: BufferedReader, encoding: str | None = None) -> None:
        self.binary = stream
        self.encoding = encoding or "UTF-8"
        self.undecoded: list[int] = []
        self._codec = encoding or _DEFAULT
        self._text: TextIOWrapper | None = None

    def lines(self, *, newline: str | None = None) -> Iterator[str]:
        r"""Read line by line.  newline: as for `open`; None makes every line end in "\n".

        Raises UnreadableError for what has no end, and for UTF-16 that nobody told of.
        """
        text = self._decoded(newline)
        number = total = 0
        try:
            while line := text.readline(LONGEST_LINE + 1):
                number += 1
                total += len(line)
                if len(line) > LONGEST_LINE:
                    what = f"the line is longer than {LONGEST_LINE} characters"
                    raise UnreadableError(number, what)
                if total > LARGEST:
                    raise UnreadableError(number, f"the file has more than {LARGEST} characters")
                if number > MOST_LINES:
                    raise UnreadableError(number, f"the file has more than {MOST_LINES} lines")
                if not line.isascii() and _UNDECODED.search(line):
                    self.undecoded.append(number)
                yield line
        except UnicodeError as error:
            raise self._not_decodable(number + 1) from error

    def whole(self, *, limit: int) -> str:
        r"""Read all, with every line ending in "\n".  limit: in bytes.

        Raises UnreadableError for a larger file, and for UTF-16 that nobody told of.
        """
        self._check_start()
        raw = self.binary.read(limit + 1)
        if len(raw) > limit:
            what = f"the file has more than {limit} bytes; use JSONL or CSV, which may be larger"
            raise UnreadableError(1, what)
        try:
            text = raw.decode(self._codec, "surrogateescape")
        except UnicodeError as error:
            raise self._not_decodable(1) from error
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if not text.isascii() and _UNDECODED.search(text):
            lines = enumerate(text.split("\n"), start=1)
            self.undecoded.extend(n for n, line in lines if _UNDECODED.search(line))
        return text

    def close(self) -> None:
        """Let go of the file."""
        (self._text or self.binary).close()

    def _decoded(self, newline: str | None) -> TextIOWrapper:
        self._check_start()
        self._text = TextIOWrapper(
            self.binary, encoding=self._codec, errors="surrogateescape", newline=newline
        )
        return self._text

    def _check_start(self) -> None:
        start = self.binary.peek(2)[:2]
        if self._codec == _DEFAULT and start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise UnreadableError(
                1,
                "the file is in UTF-16; save it as UTF-8, or say it in pyproject.toml, under "
                '[[tool.pytest-refusal.corpora]], as encoding = "utf-16"',
            )

    def _not_decodable(self, line: int) -> UnreadableError:
        return UnreadableError(line, f"from here on, the file is not in {self.encoding}")
