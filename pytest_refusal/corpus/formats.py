"""Which reader reads which file, told by the end of its name. Readers are imported when used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_refusal.corpus.decoding import Source
    from pytest_refusal.corpus.rows import Dialect, Sheet

    Reader = Callable[[Source, Dialect], Sheet]

#: The formats and the function that reads each: a module of this room, and its name there.
FORMATS: Mapping[str, tuple[str, str]] = {
    "toml": ("read_toml", "read_toml"),
    "jsonl": ("read_json", "read_jsonl"),
    "json": ("read_json", "read_json"),
    "csv": ("read_table", "read_csv"),
    "tsv": ("read_table", "read_tsv"),
    "yaml": ("read_yaml", "read_yaml"),
    "parquet": ("read_arrow", "read_parquet"),
    "arrow": ("read_arrow", "read_arrow"),
    "text": ("read_text", "read_text"),
}

_FORMAT_OF = {
    ".toml": "toml",
    ".jsonl": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".txt": "text",
}

#: Endings of compressed files, which stand after the one that tells the format.
COMPRESSIONS = (".gz", ".zst")

#: What the name of a corpus ends in. Text is for files that are named: a folder has others.
SUFFIXES = tuple(suffix for suffix in _FORMAT_OF if suffix != ".txt")


def format_of(file_name: str) -> str | None:
    """Return the format of a file by its name; None if the name does not tell."""
    name = file_name.casefold()
    for compression in COMPRESSIONS:
        name = name.removesuffix(compression)
    return next((fmt for suffix, fmt in _FORMAT_OF.items() if name.endswith(suffix)), None)


def reader_of(format_name: str) -> Reader:
    """Return the function that reads a format.  Raises KeyError for an unknown one."""
    module, function = FORMATS[format_name]
    reader: Reader = getattr(import_module(f"pytest_refusal.corpus.{module}"), function)
    return reader
