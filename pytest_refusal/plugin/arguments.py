"""Command-line arguments: which name corpora or prompts, and which are left to pytest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from pytest_refusal.corpus.formats import SUFFIXES, format_of
from pytest_refusal.corpus.sources import CorpusFile, bundled_folder, corpus_file
from pytest_refusal.plugin.node_ids import file_node_id
from pytest_refusal.plugin.typed_options import typed_options
from pytest_refusal.table_reader import closest

NOTHING_ASKED = (
    "no corpus is among the arguments, and no test takes refusal_prompt or refusal_case, so nothing"
    " would be asked; name a corpus file, a folder that holds a configured one, or no path at all"
)

# Files that hold prompts now and then, that nothing of ours reads and no test is written in.
_NO_CORPORA = frozenset({".xlsx", ".xls", ".ods", ".docx", ".pdf", ".html", ".xml", ".md", ".db"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """What the arguments of a run select.

    files: corpora of the run, in order.  names: by file, the items that were named; None
    for the whole file.  others: arguments that are pytest's own.
    """

    files: tuple[CorpusFile, ...]
    names: Mapping[CorpusFile, tuple[str, ...] | None] = field(default_factory=dict)
    others: tuple[str, ...] = ()


def take_corpora(config: pytest.Config, configured: Sequence[CorpusFile]) -> Arguments:
    """Sort the arguments of the session into ours and pytest's.

    A file is a corpus if it is configured or itself an argument; a folder brings the
    configured corpora that lie in it.  With no paths, a policy typed on the command line
    runs the configured corpora and nothing else; a policy set elsewhere adds them.
    """
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        own_tests = () if typed_policy(config) else tuple(config.args)
        return Arguments(files=tuple(configured), others=own_tests)
    by_path = {os.path.realpath(file.path): file for file in configured}
    by_node_id = {file_node_id(file.name): file for file in configured}
    found: dict[str, CorpusFile] = {}
    names: dict[str, list[str] | None] = {}
    others: list[str] = []
    for argument in config.args:
        place, separator, name = argument.partition("::")
        path = config.invocation_params.dir / place
        if path.is_dir() and not separator:
            others.append(argument)
            for key, file in by_path.items():
                if Path(key).is_relative_to(os.path.realpath(path)):
                    found[key] = file
                    names[key] = None
            continue
        named = _named_corpus(place, path, by_path, by_node_id, config.rootpath)
        if named is None:
            others.append(argument)
            continue
        key = os.path.realpath(named.path)
        file = found.setdefault(key, named)
        if not separator:
            names[key] = None
        elif (chosen := names.setdefault(key, [])) is not None:
            chosen.append(name)
    return Arguments(
        files=tuple(found.values()),
        names={
            found[key]: None if chosen is None else tuple(chosen) for key, chosen in names.items()
        },
        others=tuple(others),
    )


def named_from_rootdir(file: CorpusFile, rootpath: Path) -> CorpusFile:
    """Name a corpus as node ids do, and so that no two corpora of a run share a name."""
    named = corpus_file(file.path, base=rootpath, table=file.table)
    own = rootpath / named.name
    if named.is_bundled and own.is_file() and not own.samefile(named.path):
        return replace(named, name=f"pytest_refusal/bundled/{named.path.name}")
    return named


def absent_paths(
    config: pytest.Config, arguments: Arguments, configured: Iterable[CorpusFile]
) -> list[str]:
    """Name arguments that are no file, among them corpora that are misspelt."""
    known = [file.name for file in configured]
    here = config.invocation_params.dir
    places = [argument.partition("::")[0] for argument in arguments.others]
    faults = []
    for place in dict.fromkeys(places):
        path = here / place
        if not config.option.pyargs and not path.exists():
            faults.append(f"{place}: no such file or folder{closest(place, known)}")
        elif path.suffix.casefold() in _NO_CORPORA and path.is_file():
            faults.append(
                f"{place}: files of this kind are not read as a corpus;"
                f" their names end in {', '.join((*SUFFIXES, '.txt'))}"
            )
    return faults


def typed_policy(config: pytest.Config) -> bool:
    """Whether `--refusal-policy` stands on the command line, and not only in addopts."""
    return "--refusal-policy" in typed_options(config)


def _named_corpus(
    place: str,
    path: Path,
    by_path: Mapping[str, CorpusFile],
    by_node_id: Mapping[str, CorpusFile],
    rootpath: Path,
) -> CorpusFile | None:
    if path.is_file():
        known = by_path.get(os.path.realpath(path))
        if known is not None or format_of(path.name) is None:
            return known
        return corpus_file(path, base=rootpath)
    # Node ids start at rootdir, wherever pytest was called; those of bundled prompts mean the
    # packaged file where there is none of the user's.
    if place in by_node_id:
        return by_node_id[place]
    own = rootpath / place
    if format_of(own.name) is not None and own.is_file():
        return corpus_file(own, base=rootpath)
    if place.startswith("corpus/") and (bundled := bundled_folder() / place[7:]).is_file():
        return corpus_file(bundled, base=rootpath)
    return None
