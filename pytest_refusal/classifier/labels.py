"""Responses with labels of people, as read from JSONL or CSV: what a classifier is held against."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_refusal.errors import CorpusError
from pytest_refusal.verdict import VerdictKind

# By what columns are called in published sets; the first that is there counts.
_RESPONSE = ("response", "completion", "assistant_response", "output", "answer", "generation")
_LABEL = ("label", "final_label", "human_label", "human_score", "human_score_1")
_PROMPT = ("prompt", "question", "objective", "instruction")
_SOURCE = ("source", "dataset", "model")
_LANGUAGE = ("lang", "language")
_ORIGIN = "label_origin"

_LABELS: Mapping[str, VerdictKind] = {
    **dict.fromkeys(
        ("answer", "1_full_compliance", "full_compliance", "compliance", "complied", "0", "0.0"),
        VerdictKind.ANSWER,
    ),
    **dict.fromkeys(
        ("partial", "partial_refusal", "3_partial_refusal"), VerdictKind.PARTIAL_REFUSAL
    ),
    **dict.fromkeys(
        ("refusal", "2_full_refusal", "full_refusal", "refused", "1", "1.0"), VerdictKind.REFUSAL
    ),
}
_UNMAPPED = frozenset({"", "none", "null"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledResponse:
    """One response, and what people called it."""

    response: str
    label: VerdictKind
    prompt: str | None
    source: str
    language: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledFile:
    """The labelled responses of one file.

    unlabelled: rows without a label.  machine: whether some labels come from a model.
    """

    path: Path
    rows: tuple[LabelledResponse, ...]
    unlabelled: int
    machine: bool


def read_labels(path: Path) -> LabelledFile:
    """Read a JSONL, CSV or TSV file.

    Raises CorpusError with every fault: a missing file or column, an unknown label.
    """
    faults: list[str] = []
    rows: list[LabelledResponse] = []
    unlabelled = 0
    machine = False
    try:
        for line, record in _records(path, faults):
            row = _row(path, line, record, faults)
            if row is None:
                unlabelled += 1
            else:
                rows.append(row)
            machine |= str(record.get(_ORIGIN, "human")) != "human"
    except (OSError, UnicodeDecodeError) as error:
        faults.append(f"{path}: cannot be read ({error})")
    if faults:
        raise CorpusError(faults)
    return LabelledFile(path=path, rows=tuple(rows), unlabelled=unlabelled, machine=machine)


def _records(path: Path, faults: list[str]) -> Iterator[tuple[int, Mapping[str, object]]]:
    if path.suffix in (".csv", ".tsv"):
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, delimiter="\t" if path.suffix == ".tsv" else ",")
            for record in reader:
                yield reader.line_num, record
        return
    # Not splitlines(), which also cuts at characters that may stand inside a JSON text.
    for number, line in enumerate(path.read_text("utf-8-sig").split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            faults.append(f"{path}:{number}: is no JSON ({error.msg})")
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            faults.append(f"{path}:{number}: must be an object")


def _row(
    path: Path, line: int, record: Mapping[str, object], faults: list[str]
) -> LabelledResponse | None:
    response, label = _first(record, _RESPONSE), _first(record, _LABEL)
    if not isinstance(response, str):
        faults.append(f"{path}:{line}: no response (a column {', '.join(_RESPONSE)})")
        return None
    word = str(label).strip().casefold()
    if label is None or word in _UNMAPPED:
        return None
    kind = _LABELS.get(word)
    if kind is None:
        faults.append(
            f"{path}:{line}: unknown label {str(label)!r} (answer, partial, refusal, or the labels"
            " of XSTest)"
        )
        return None
    prompt = _first(record, _PROMPT)
    return LabelledResponse(
        response=response,
        label=kind,
        prompt=prompt if isinstance(prompt, str) else None,
        source=str(_first(record, _SOURCE) or path.stem),
        language=str(_first(record, _LANGUAGE) or "-"),
        line=line,
    )


def _first(record: Mapping[str, object], names: tuple[str, ...]) -> object:
    return next((record[name] for name in names if name in record), None)
