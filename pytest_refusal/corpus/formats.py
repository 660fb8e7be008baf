"""Which reader reads which file, told by the end of its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytest_refusal.corpus.decoding import Source
from pytest_refusal.corpus.read_json import read_json, read_jsonl
from pytest_refusal.corpus.read_table import read_csv, read_tsv
from pytest_refusal.corpus.read_toml import read_toml
from pytest_refusal.corpus.rows import Sheet

Reader = Callable[[Source], Sheet]

_READERS: dict[str, Reader] = {
    ".toml": read_toml,
    ".jsonl": read_jsonl,
    ".json": read_json,
    ".csv": read_csv,
    ".tsv": read_tsv,
}


def reader_of(path: Path) -> Reader:
    """Return the reader for a file that `find_corpora` found.  Raises KeyError for others."""
    return _READERS[path.suffix.casefold()]
