"""Files to checked prompts: the way through this room."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import fspath
from pathlib import Path

from pytest_refusal.corpus.faults import fault_lines
from pytest_refusal.corpus.reading import FileReading, read_corpus_file
from pytest_refusal.corpus.sampling import sampled
from pytest_refusal.corpus.sources import CorpusFile, find_corpora
from pytest_refusal.corpus.tables import CorpusTable
from pytest_refusal.corpus.transform import variants
from pytest_refusal.corpus.validation import Note, clashes, compare, misspelt_note
from pytest_refusal.errors import CorpusError
from pytest_refusal.prompt import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The prompts of a run, in the order of the files, and what to know about them.

    readings: how each file was read; their prompts are those before any sample or transform.
    """

    prompts: tuple[Prompt, ...]
    notes: tuple[Note, ...]
    readings: tuple[FileReading, ...] = ()


def load(files: Iterable[CorpusFile]) -> Loaded:
    """Read and check files.  Raises CorpusError with every fault of every file."""
    with _no_collection():
        named = tuple(files)
        readings = read_all(named)
        prompts = _selected(named, readings)
        contradictions, notes = compare(prompts)
    faults = [fault for reading in readings for fault in reading.faults] + contradictions
    if any(file.table is not None and file.table.transforms for file in named):
        faults += clashes(prompts)
    if faults:
        raise CorpusError(fault_lines(faults))
    notes += tuple(
        misspelt_note(reading.corpus, column, name, len(reading.prompts))
        for reading in readings
        for column, name in reading.misspelt.items()
    )
    return Loaded(prompts=tuple(prompts), notes=notes, readings=readings)


def read_all(files: Sequence[CorpusFile]) -> tuple[FileReading, ...]:
    """Read and check each file by itself; whatever is wrong with it is in the result."""
    with _no_collection():
        return tuple(read_corpus_file(file) for file in files)


def load_files(files: Sequence[CorpusFile]) -> tuple[Prompt, ...]:
    """Read and check files.  Raises CorpusError with every fault of every file."""
    return load(files).prompts


def load_corpus(*paths: str | Path) -> list[Prompt]:
    """Read and check corpora: files, folders, globs or bundled names; none mean the bundled.

    A path is relative to the current folder.  Raises SettingsError for what does not exist,
    and CorpusError with every fault of every file.
    """
    return list(load_files(find_corpora([fspath(path) for path in paths], base=Path.cwd())))


def _selected(files: Sequence[CorpusFile], readings: Sequence[FileReading]) -> list[Prompt]:
    """Return the prompts of a run: of some tables a sample, of some several variants of each."""
    prompts: list[Prompt] = []
    for file, chosen in zip(files, _sampled(files, readings), strict=True):
        if file.table is None or not file.table.transforms:
            prompts.extend(chosen)
        else:
            for prompt in chosen:
                prompts.extend(variants(prompt, file.table.transforms))
    return prompts


def _sampled(
    files: Sequence[CorpusFile], readings: Sequence[FileReading]
) -> list[Sequence[Prompt]]:
    # One sample over all files of a table, of which each file then has its own.
    gathered: dict[int, tuple[CorpusTable, list[Prompt]]] = {}
    for file, reading in zip(files, readings, strict=True):
        if file.table is not None and file.table.sample is not None:
            _, of_table = gathered.setdefault(id(file.table), (file.table, []))
            of_table.extend(reading.prompts)
    samples = {
        key: frozenset(map(id, sampled(of_table, table.sample or 0, seed=table.seed)))
        for key, (table, of_table) in gathered.items()
    }
    return [
        [prompt for prompt in reading.prompts if id(prompt) in samples[id(file.table)]]
        if id(file.table) in samples
        else reading.prompts
        for file, reading in zip(files, readings, strict=True)
    ]


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
