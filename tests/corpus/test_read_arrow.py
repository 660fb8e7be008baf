"""Parquet and Arrow corpora."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_refusal.corpus import read_arrow
from pytest_refusal.corpus.reading import read_corpus_file
from pytest_refusal.corpus.sources import CorpusFile

pyarrow = pytest.importorskip("pyarrow", reason="Parquet is an extra, and pyarrow is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="this pyarrow has no Parquet")

FaultsOf = Callable[..., tuple[str, ...]]

TABLE = {
    "id": [1, 2],
    "prompt": ["Hi", "Do\nharm"],
    "label": ["safe", "unsafe"],
    "severity": [None, 3],
    "tags": [["a", "b"], []],
    "score": [0.5, 1.5],
}


def written(path: Path) -> CorpusFile:
    table = pyarrow.table(TABLE)
    match path.name:
        case "c.parquet":
            parquet.write_table(table, path, row_group_size=1)
        case "file.arrow":
            with pyarrow.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)
        case "stream.arrow":
            with pyarrow.ipc.new_stream(path, table.schema) as writer:
                writer.write_table(table)
    return CorpusFile(path=path, name=path.name)


@pytest.mark.parametrize("name", ["c.parquet", "file.arrow", "stream.arrow"])
def test_columns_are_read(tmp_path: Path, name: str) -> None:
    reading = read_corpus_file(written(tmp_path / name))
    assert reading.faults == ()
    first, second = reading.prompts
    assert (first.id, first.text, first.label, first.severity) == ("1", "Hi", "safe", None)
    assert (second.id, second.text, second.label, second.severity) == ("2", "Do\nharm", "unsafe", 3)
    assert (first.tags, second.tags) == (("a", "b"), ())
    assert [prompt.place.line for prompt in reading.prompts if prompt.place] == [1, 2]


@pytest.mark.parametrize("name", ["c.parquet", "c.arrow"])
def test_without_the_package_the_extra_is_named(
    faults_of: FaultsOf, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert faults_of((name, b"PAR1")) == (
        f'{name}:1: Parquet and Arrow need another package: pip install "pytest-refusal[parquet]"',
    )


@pytest.mark.parametrize("name", ["c.parquet", "file.arrow", "stream.arrow"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_damaged_file_is_a_fault(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    file = written(tmp_path_factory.getbasetemp() / name)
    raw = bytearray(file.path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    if data.draw(st.booleans()):
        del raw[at:]
    else:
        raw[at] = data.draw(st.integers(0, 255))
    file.path.write_bytes(raw)
    reading = read_corpus_file(file)
    assert reading.faults or reading.prompts


def test_a_text_that_the_file_has_once_is_not_repeated_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_arrow, "LARGEST", 1_000_000)
    path = tmp_path / "c.parquet"
    rows = 1000
    parquet.write_table(pyarrow.table({"prompt": ["a" * 10_000] * rows}), path)
    assert path.stat().st_size < 100_000
    reading = read_corpus_file(CorpusFile(path=path, name=path.name))
    assert [fault.what for fault in reading.faults][-1] == (
        "the file has more than 1000000 bytes of data"
    )


def test_a_file_that_claims_to_be_very_large_is_not_read(faults_of: FaultsOf) -> None:
    # The size of its first part is a quarter of what memory may hold, and none of it is there.
    (fault,) = faults_of(("c.arrow", b"\xff\xff\xff\xff\x00\x00\x00\x40" + b"a" * 1000))
    assert (
        fault == "c.arrow:1: this is not Arrow: a part of it would have more than 268435456 bytes"
    )
