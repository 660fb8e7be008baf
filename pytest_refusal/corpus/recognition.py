"""Which published set a file belongs to, told by its columns and its name. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import PurePath

from pytest_refusal.corpus.layout import Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A published set.

    name: what the configuration calls it, as `set`.
    columns: must all be there.  files: patterns, one of which the name of the file, in lower
    case and without its endings, must match where the columns alone tell too little.
    by_file: constants for files whose names match a pattern; the first match counts.
    labelled_by: how a prompt of the set gets its label, for people; "" for by a column.
    """

    name: str
    title: str
    columns: frozenset[str]
    layout: Layout
    files: tuple[str, ...] = ("*",)
    by_file: tuple[tuple[str, Mapping[str, object]], ...] = field(default=())
    labelled_by: str = ""

    def layout_of(self, file_name: str) -> Layout:
        """Return the layout for a file of this set."""
        stem = stem_of(file_name)
        of_file = next((c for pattern, c in self.by_file if fnmatchcase(stem, pattern)), {})
        constants = {"source": self.title, **self.layout.constants, **of_file}
        return replace(self.layout, constants=constants)


def recognise(
    columns: frozenset[str], file_name: str, sets: Iterable[Published]
) -> Published | None:
    """Return the first of the sets that a file belongs to; None if it is none of them."""
    stem = stem_of(file_name)
    for published in sets:
        if published.columns <= columns and any(fnmatchcase(stem, p) for p in published.files):
            return published
    return None


def stem_of(file_name: str) -> str:
    """Return the name of a file in lower case, without folders and endings."""
    name = PurePath(file_name).name
    return (name.split(".")[0] or name).casefold()
