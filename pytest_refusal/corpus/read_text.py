"""Read plain text: one prompt a line."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_refusal.corpus.decoding import Source
from pytest_refusal.corpus.rows import Broken, Dialect, Row, Sheet


def read_text(source: Source, _dialect: Dialect) -> Sheet:
    """Read a prompt from each line that is not empty; what else it is must be said elsewhere."""
    return Sheet(rows=_rows(source), ours=False, columns=("prompt",))


def _rows(source: Source) -> Iterator[Row | Broken]:
    for number, line in enumerate(source.lines(), start=1):
        if not line.isspace():
            yield Row(number, {"prompt": line.removesuffix("\n")})
