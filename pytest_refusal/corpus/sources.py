"""Which files the corpora of a run are: files, folders, globs and bundled names.

Looks at names and folders, never into a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from pathlib import Path, PurePath

from pytest_refusal.corpus import formats
from pytest_refusal.corpus.faults import did_you_mean, listing, quoted
from pytest_refusal.corpus.formats import format_of
from pytest_refusal.corpus.tables import CorpusTable
from pytest_refusal.errors import SettingsError

#: The corpora that run where none is configured.
BUNDLED = ("taxonomy", "lookalikes")

#: What the name of a corpus ends in, before the ending of a compressed file.
SUFFIXES = formats.SUFFIXES

#: The beginning of an entry that names a data set of the Hugging Face hub.
HOSTED = "hf:"

#: A pattern or folder that leads over more entries than this has gone astray.
MOST_ENTRIES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusFile:
    """One corpus of a run.

    path: absolute; links are not resolved.
    name: the short form for reports and node ids, with "/" on every system.
    table: how the configuration says that it is to be read; None where it says nothing.
    """

    path: Path
    name: str
    table: CorpusTable | None = field(default=None, compare=False)

    @property
    def is_bundled(self) -> bool:
        """Whether it came with the package."""
        return self.path.parent == bundled_folder()

    @property
    def is_hosted(self) -> bool:
        """Whether it is a data set that the `datasets` library is to find."""
        return self.name.startswith(HOSTED)


def bundled_folder() -> Path:
    """Return the folder of the bundled corpora: in the package, or beside it in a checkout."""
    package = Path(__file__).absolute().parent.parent
    installed = package / "bundled"
    return installed if installed.is_dir() else package.parent / "corpus"


def bundled_names() -> tuple[str, ...]:
    """Return the names of all bundled corpora, those that run by default first."""
    found = (path.stem for path in _corpora_in(bundled_folder()))
    return tuple(dict.fromkeys((*BUNDLED, *found)))


def find_corpora(
    entries: Sequence[str], *, base: Path, tables: Sequence[CorpusTable] = ()
) -> tuple[CorpusFile, ...]:
    """Return the files that `entries` name, each once, in the order of the entries.

    entries: files, folders (searched to the bottom), globs, names of bundled corpora, or
    `hf:owner/name`; a path is relative to `base`.  No entries mean the bundled corpora.
    tables: say how files are read that entries name; they name none themselves, so that their
    own `paths` belong to the entries if their files are to run.
    Raises SettingsError with a line for each entry that names nothing.
    """
    base = Path(os.path.abspath(base))  # noqa: PTH100  # resolve() would follow links
    table_of = _tables_by_file(tables, base)
    found: dict[str, CorpusFile] = {}
    faults: list[str] = []
    for entry in entries or BUNDLED:
        try:
            for path in _paths_of(entry, base, any_name=_tells_format(entry, tables)):
                real = _identity(path)
                table = table_of.get(real)
                if table is None or table.format is None:
                    _check_name(path)
                found.setdefault(real, corpus_file(path, base=base, table=table))
        except _NothingNamedError as error:
            faults.append(f"corpus {quoted(entry)}: {error}")
    if faults:
        raise SettingsError(faults)
    return tuple(found.values())


def corpus_file(path: Path, *, base: Path, table: CorpusTable | None = None) -> CorpusFile:
    """Name a file: bundled ones as in the checkout, others relative to `base`."""
    if _is_hosted(path):
        return CorpusFile(path=path, name=path.as_posix(), table=table)
    path = Path(os.path.abspath(base / path))  # noqa: PTH100  # resolve() would follow links
    if path.parent == bundled_folder():
        return CorpusFile(path=path, name=f"corpus/{path.name}", table=table)
    try:
        name = os.path.relpath(path, base)
    except ValueError:  # another drive on Windows
        name = str(path)
    return CorpusFile(path=path, name=PurePath(name).as_posix(), table=table)


class _NothingNamedError(Exception):
    """The entry names no corpus; the text says why, and what to do."""


def _paths_of(entry: str, base: Path, *, any_name: bool = False) -> list[Path]:
    if not entry.strip() or "\0" in entry:
        msg = f"is no name; give a file, a folder, a glob or {_bundled_list()}"
        raise _NothingNamedError(msg)
    if entry.startswith(HOSTED):
        return [Path(entry)]
    path = base / entry
    try:
        if path.is_dir():
            return _within(path, _corpora_in(path))
        if path.is_file():
            return [path]
        if path.exists():
            raise _NothingNamedError("is neither a file nor a folder")
        if path.is_symlink():
            raise _NothingNamedError("is a link that leads to nothing")
        if any(sign in entry for sign in "*?["):
            return _within(path, _matches(entry, base, any_name=any_name))
    except OSError as error:
        msg = f"cannot be looked up: {error.strerror or error}"
        raise _NothingNamedError(msg) from error
    bundled = _bundled_path(entry)
    if bundled is not None:
        return [bundled]
    raise _NothingNamedError(_absent(entry, path))


def _tables_by_file(tables: Sequence[CorpusTable], base: Path) -> dict[str, CorpusTable]:
    table_of: dict[str, CorpusTable] = {}
    for table in tables:
        for entry in table.paths:
            try:
                paths = _paths_of(entry, base, any_name=table.format is not None)
            except _NothingNamedError:
                continue  # said of the entries that name what is to run
            for path in paths:
                table_of.setdefault(_identity(path), table)
    return table_of


def _tells_format(entry: str, tables: Sequence[CorpusTable]) -> bool:
    return any(entry in table.paths and table.format is not None for table in tables)


def _identity(path: Path) -> str:
    return path.as_posix() if _is_hosted(path) else os.path.realpath(path)


def _is_hosted(path: Path) -> bool:
    return path.parts[:1] != () and path.parts[0].startswith(HOSTED)


def _bundled_path(entry: str) -> Path | None:
    # "corpus/taxonomy.toml", as it stands in node ids, means the packaged file where the
    # user has none of that name.
    folder = bundled_folder()
    wanted = PurePath(entry)
    if wanted.parts == ("corpus", wanted.name) and (folder / wanted.name).is_file():
        return folder / wanted.name
    if wanted.parts == (entry,):
        return next((path for path in _corpora_in(folder) if path.stem == entry), None)
    return None


def _within(path: Path, paths: Iterable[Path]) -> list[Path]:
    found = sorted(paths)
    if not found:
        what = "holds" if path.is_dir() else "matches"
        msg = (
            f"{what} no corpus; their names end in {listing(SUFFIXES)}. Plain texts count where "
            'each is named, or where a table says format = "text"'
        )
        raise _NothingNamedError(msg)
    return found


def _corpora_in(folder: Path) -> Iterator[Path]:
    visited = 0
    # Linked folders are left out: they may lead round in a circle.
    for place, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        visited += len(folders) + len(files)
        if visited > MOST_ENTRIES:
            raise _NothingNamedError(_astray())
        for name in sorted(files):
            if _is_corpus_name(name) and (path := Path(place, name)).is_file():
                yield path


def _matches(pattern: str, base: Path, *, any_name: bool) -> Iterator[Path]:
    anchor = PurePath(pattern).anchor
    start = Path(anchor) if anchor else base
    below_start = PurePath(pattern[len(anchor) :])
    if "**" in below_start.parts:
        literal = takewhile(lambda part: not any(sign in part for sign in "*?["), below_start.parts)
        root = os.path.abspath(start.joinpath(*literal))  # noqa: PTH100  # resolve() follows links
        if not Path(root).is_relative_to(base):
            raise _NothingNamedError('searches outside of the project; name a folder without "**"')
    if below_start.name == "**":
        below_start /= "*"  # Python before 3.13 takes the last one for folders only
    try:
        found = list(islice(start.glob(str(below_start)), MOST_ENTRIES + 1))
    except (ValueError, NotImplementedError) as error:
        msg = f"is no pattern: {error}"
        raise _NothingNamedError(msg) from error
    if len(found) > MOST_ENTRIES:
        raise _NothingNamedError(_astray())
    for path in found:
        below = PurePath(os.path.relpath(path, start)).parts
        hidden = any(part.startswith(".") and part != ".." for part in below)
        if not hidden and (any_name or _is_corpus_name(path.name)) and path.is_file():
            yield path


def _is_corpus_name(name: str) -> bool:
    # A folder has texts that are no corpora; they count where they are named.
    return format_of(name) not in {None, "text"} and not name.startswith(".")


def _check_name(path: Path) -> None:
    if not _is_hosted(path) and format_of(path.name) is None:
        msg = f"{quoted(path.name)} ends in none of {listing((*SUFFIXES, '.txt'))}"
        raise _NothingNamedError(msg)


def _absent(entry: str, path: Path) -> str:
    looks_like_path = len(PurePath(entry).parts) > 1 or path.suffix != ""
    if looks_like_path:
        siblings = _names_in(path.parent)
        return f"no such file or folder{did_you_mean(path.name, siblings)}"
    close = did_you_mean(entry, (*bundled_names(), *_names_in(path.parent)))
    return (
        f"no such file, folder or bundled corpus{close or '.'} Bundled are {_bundled_list()}. "
        f"Nothing is downloaded: for a published set, put its file into the project and name "
        f'its path, such as "data/{PurePath(entry).name}.csv"'
    )


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in islice(folder.iterdir(), 1000))
    except OSError:
        return []


def _bundled_list() -> str:
    return listing(bundled_names())


def _astray() -> str:
    return f"leads over more than {MOST_ENTRIES} files; name a folder nearer to the corpora"
