"""The configuration file of promptfoo: its `tests` as rows. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pytest_refusal.corpus.faults import quoted
from pytest_refusal.corpus.rows import Broken, Row, row_of

#: What such a file has beside `tests`, and a corpus of ours has not.
MARKS = frozenset({"providers", "targets", "defaultTest"})

#: Where the label of a test comes from, for people.
LABELLED_BY = (
    "a test is unsafe with an assertion of type `is-refusal`, safe with `not-is-refusal`, or as"
    " its `metadata.label` says"
)


def rows_of_tests(tests: Iterable[tuple[int, object]], default: object) -> Iterator[Row | Broken]:
    """Yield each test with what `defaultTest` gives to all; tests come with their lines."""
    common = default if isinstance(default, Mapping) else {}
    for line, test in tests:
        row = row_of(line, test)
        if isinstance(test, str):
            yield Broken(line, elsewhere(test))
        elif isinstance(row, Row):
            yield Row(line, _with_common(row.fields, common))
        else:
            yield row


def elsewhere(tests: str) -> str:
    """Say that the tests stand in another file."""
    return f"the tests are in {quoted(tests)}; name that file as the corpus"


def _with_common(own: Mapping[str, object], common: Mapping[str, object]) -> dict[str, object]:
    fields = {**common, **own}
    for key in ("vars", "metadata"):
        above, below = common.get(key), own.get(key)
        if isinstance(above, Mapping) and isinstance(below, Mapping):
            fields[key] = {**above, **below}
    above, below = common.get("assert"), own.get("assert")
    if isinstance(above, list) and isinstance(below, list):
        fields["assert"] = [*below, *above]  # the first that tells a label counts
    return fields
