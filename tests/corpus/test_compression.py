"""Compressed corpora, and those that would unpack without end."""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_refusal.corpus import decoding, read_json, read_toml, reading
from pytest_refusal.corpus.loading import load_corpus

Write = Callable[[str, str | bytes], Path]
FaultsOf = Callable[..., tuple[str, ...]]

CSV = b"prompt,label\nHi,safe\nDo harm,unsafe\n"


def zstd(data: bytes) -> bytes:
    zstandard = pytest.importorskip("zstandard", reason="zstd is an extra, and is not installed")
    packed: bytes = zstandard.compress(data)
    return packed


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("zst", zstd)])
def test_a_compressed_file(write: Write, ending: str, pack: Callable[[bytes], bytes]) -> None:
    prompts = load_corpus(write(f"c.csv.{ending}", pack(CSV)))
    assert [prompt.text for prompt in prompts] == ["Hi", "Do harm"]


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("zst", zstd)])
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[: len(data) // 2], id="cut"),
        pytest.param(lambda data: data[:-12] + b"\0" * 12, id="overwritten"),
        pytest.param(lambda data: CSV, id="not-packed"),
    ],
)
def test_a_damaged_file_is_a_fault(
    faults_of: FaultsOf,
    ending: str,
    pack: Callable[[bytes], bytes],
    damage: Callable[[bytes], bytes],
) -> None:
    packed = pack(CSV + bytes(range(32, 127)) * 20)
    (fault, *_) = faults_of((f"c.csv.{ending}", damage(packed)))
    assert fault.startswith(f"c.csv.{ending}:")


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("zst", zstd)])
@pytest.mark.parametrize("name", ["c.csv", "c.jsonl", "c.json", "c.toml", "c.txt"])
def test_a_bomb_is_not_unpacked_to_its_end(
    faults_of: FaultsOf,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    ending: str,
    pack: Callable[[bytes], bytes],
) -> None:
    monkeypatch.setattr(decoding, "LONGEST_LINE", 10_000)
    monkeypatch.setattr(read_json, "LARGEST_DATA", 10_000)
    monkeypatch.setattr(read_toml, "LARGEST_BY_HAND", 10_000)
    (fault,) = faults_of((f"{name}.{ending}", pack(b"a" * 1_000_000)))
    assert "than 10000 " in fault


def test_many_short_lines_have_an_end_too(
    faults_of: FaultsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "LARGEST", 10_000)
    (fault,) = faults_of(("c.jsonl.gz", gzip.compress(b"\n" * 1_000_000)))
    assert fault == "c.jsonl.gz:10001: the file has more than 10000 characters"


def test_lines_prompts_and_values_have_an_end(
    faults_of: FaultsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "MOST_LINES", 1000)
    monkeypatch.setattr(reading, "MOST_PROMPTS", 100)
    monkeypatch.setattr(read_json, "MOST_SIGNS", 10_000)
    row = b'{"prompt": "Hi", "label": "safe"}'
    assert faults_of(
        ("lines.jsonl", row + b"\n" * 2000),
        ("prompts.csv", b"prompt,label\n" + b"Hi,safe\n" * 200),
        ("prompts.json", b"[" + b", ".join([row] * 200) + b"]"),
        ("values.json", b"[" + b"[]," * 10_000 + b"[]]"),
    ) == (
        "lines.jsonl:1001: the file has more than 1000 lines",
        "prompts.csv:102: the file has more than 100 prompts; divide it",
        "prompts.json:1: the file has more than 100 prompts; divide it",
        "values.json:1: the document has more than 10000 values; use JSONL, which may have more",
    )


def test_without_the_package_the_extra_is_named(
    faults_of: FaultsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert faults_of(("c.csv.zst", b"")) == (
        'c.csv.zst:1: zstd files need another package: pip install "pytest-refusal[zstd]"',
    )
