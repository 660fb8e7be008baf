"""Files to checked prompts: the way through this room."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from os import fspath
from pathlib import Path

from pytest_refusal.corpus.decoding import Source
from pytest_refusal.corpus.faults import Fault, UnreadableError, fault_lines
from pytest_refusal.corpus.formats import reader_of
from pytest_refusal.corpus.mapping import mapped
from pytest_refusal.corpus.prompts import PromptBuilder
from pytest_refusal.corpus.rows import Broken
from pytest_refusal.corpus.sources import CorpusFile, find_corpora
from pytest_refusal.corpus.validation import Note, compare
from pytest_refusal.errors import CorpusError
from pytest_refusal.prompt import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The prompts of a run, in the order of the files, and what to know about them."""

    prompts: tuple[Prompt, ...]
    notes: tuple[Note, ...]


def load(files: Iterable[CorpusFile]) -> Loaded:
    """Read and check files.  Raises CorpusError with every fault of every file."""
    prompts: list[Prompt] = []
    faults: list[Fault] = []
    with _no_collection():
        for file in files:
            faults.extend(_read(file, prompts))
        contradictions, notes = compare(prompts)
    faults.extend(contradictions)
    if faults:
        raise CorpusError(fault_lines(faults))
    return Loaded(prompts=tuple(prompts), notes=notes)


def load_files(files: Sequence[CorpusFile]) -> tuple[Prompt, ...]:
    """Read and check files.  Raises CorpusError with every fault of every file."""
    return load(files).prompts


def load_corpus(*paths: str | Path) -> list[Prompt]:
    """Read and check corpora: files, folders, globs or bundled names; none mean the bundled.

    A path is relative to the current folder.  Raises SettingsError for what does not exist,
    and CorpusError with every fault of every file.
    """
    return list(load_files(find_corpora([fspath(path) for path in paths], base=Path.cwd())))


def _read(file: CorpusFile, prompts: list[Prompt]) -> list[Fault]:
    """Add the prompts of a file to `prompts`, and return its faults."""
    builder: PromptBuilder | None = None
    faults: list[Fault] = []
    before = len(prompts)
    try:
        with closing(Source(file.path.open("rb"))) as source:
            try:
                sheet = reader_of(file.path)(source)
                builder = PromptBuilder(file, ours=sheet.ours, defaults=sheet.defaults)
                for row in mapped(sheet):
                    if isinstance(row, Broken):
                        builder.refuse(row)
                    elif (prompt := builder.build(row)) is not None:
                        prompts.append(prompt)
            except UnreadableError as error:
                faults.append(Fault(file.name, error.line, error.what))
            if source.undecoded:
                faults.append(_undecoded(file, source.undecoded))
    except OSError as error:
        faults.append(Fault(file.name, 1, f"cannot be read: {error.strerror or error}"))
    if builder is not None:
        faults.extend(builder.faults())
    if not faults and len(prompts) == before:
        faults.append(Fault(file.name, 1, "the file has no prompts"))
    return faults


@contextmanager
def _no_collection() -> Iterator[None]:
    # Prompts hold no cycles, and looking for some again and again, ever more of them, takes
    # a third of the time.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _undecoded(file: CorpusFile, lines: list[int]) -> Fault:
    more = f" (nor {len(lines) - 1} more lines)" if len(lines) > 1 else ""
    return Fault(file.name, lines[0], f"this line is not UTF-8{more}; save the file as UTF-8")
