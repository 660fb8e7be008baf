"""Read a data set of the Hugging Face hub, or a local folder of one, by the `datasets` library.

This is the one corpus that may go to the network: where `hf:` was asked for, and through that
library, with its own cache and its own offline switch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_refusal.corpus.faults import UnreadableError, listing
from pytest_refusal.corpus.rows import Broken, Row, Sheet


def read_hosted(name: str) -> Sheet:
    """Read `hf:owner/name`, `hf:owner/name:split` or `hf:owner/name:config:split`.

    Needs the extra `hf`.  Code that comes with a data set is not run.
    """
    path, _, rest = name.removeprefix("hf:").partition(":")
    config, _, split = rest.rpartition(":")
    try:
        import datasets  # optional
    except ImportError as error:
        what = 'data sets of the hub need another package: pip install "pytest-refusal[hf]"'
        raise UnreadableError(1, what) from error
    try:
        found = datasets.load_dataset(path, config or None, split=split or None)
    except Exception as error:  # foreign code, with errors of many kinds
        what = f"the data set cannot be loaded: {type(error).__name__}: {error}"
        raise UnreadableError(1, what.splitlines()[0]) from error
    if isinstance(found, datasets.DatasetDict):
        splits = list(found)
        if len(splits) > 1:
            what = f"there are several splits, {listing(splits)}; name one, as {name}:{splits[0]}"
            raise UnreadableError(1, what)
        found = found[splits[0]]
    return Sheet(rows=_rows(found), ours=False, columns=tuple(found.column_names))


def _rows(found: Any) -> Iterator[Row | Broken]:
    for number, fields in enumerate(found, start=1):
        yield Row(number, fields)
