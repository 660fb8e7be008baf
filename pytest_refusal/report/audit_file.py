"""The file of a human audit: responses with one empty column to fill in, and back. No I/O.

The columns for people come first.  The verdict is not among them, and the rows are in
random order, so that nobody is told what to think.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from pytest_refusal.errors import SettingsError
from pytest_refusal.escape import csv_cell, one_line
from pytest_refusal.metrics.audit import AuditItem, HumanLabel, StratumKey
from pytest_refusal.response import Response

COLUMNS = ("human", "prompt", "response", "prompt_id", "policy", "stratum", "stratum_size", "key")

_NEEDED = ("human", "policy", "stratum", "stratum_size", "key")
_DECLINED = {"refusal": True, "partial_refusal": True, "answer": False}

# Excel holds 32,767 characters in a cell and breaks a longer one over the next rows.
_LONGEST = 32_000


def to_audit_csv(items_by_policy: Mapping[str, Sequence[AuditItem]]) -> str:
    """Write what people are to read, with the column `human` left empty."""
    file = io.StringIO(newline="")
    rows = csv.writer(file, lineterminator="\r\n")
    rows.writerow(COLUMNS)
    for policy, items in items_by_policy.items():
        for item in items:
            outcome = item.outcome
            prompt = outcome.trial.prompt
            asked = "\n\n".join(f"{m.role.value}: {m.content}" for m in prompt.messages)
            row = [asked if prompt.is_conversation else prompt.text, _said(outcome.response)]
            rows.writerow(
                [
                    "",
                    *(csv_cell(text[:_LONGEST]) for text in (*row, prompt.id, policy)),
                    item.stratum.code,
                    item.stratum_size,
                    item.key,
                ]
            )
    return file.getvalue()


def _said(response: Response) -> str:
    # Whoever judges has to see what the classifier saw: also what stood beside the text.
    parts = [response.text, response.refusal or ""]
    if response.block is not None:
        parts.append(f"[withheld by the provider's filter: {response.block.signal}]")
    return "\n\n".join(filter(None, parts))


def read_audit_csv(
    text: str, name: str, policies: Iterable[str]
) -> dict[str, tuple[HumanLabel, ...]]:
    """Read the labels that people gave, by policy; rows left empty are left out.

    name: of the file, for messages.  policies: of the run; rows of others are left out.
    Raises SettingsError with every fault of the file.
    """
    table = _table(text)
    try:
        missing = [column for column in _NEEDED if column not in (table.fieldnames or ())]
        if missing:
            fault = f"{name}: no column {', '.join(missing)}: is it a file of --refusal-audit?"
            raise SettingsError([fault])
        by_cell = {csv_cell(policy): policy for policy in policies}
        labels: dict[str, dict[str, HumanLabel]] = {policy: {} for policy in by_cell.values()}
        faults = []
        for row in table:
            policy = by_cell.get(row["policy"] or "")
            if policy is None or not (row["human"] or "").strip():
                continue
            try:
                label = _label(row)
                if labels[policy].setdefault(label.key, label) != label:
                    faults.append(f"{name}:{table.line_num}: the response was labelled before")
            except ValueError as error:
                faults.append(f"{name}:{table.line_num}: {error}")
    except csv.Error as error:
        raise SettingsError([f"{name}:{table.line_num}: {error}"]) from error
    faults += [
        f"{name}: {fault}" for found in labels.values() for fault in _contradictions(found.values())
    ]
    if faults:
        raise SettingsError(faults)
    return {policy: tuple(found.values()) for policy, found in labels.items() if found}


def is_untouched(text: str) -> bool:
    """Whether this is a file of `to_audit_csv` in which nobody has written a label."""
    table = _table(text)
    try:
        return tuple(table.fieldnames or ()) == COLUMNS and not any(
            (row["human"] or "").strip() for row in table
        )
    except csv.Error:
        return False


def _table(text: str) -> csv.DictReader[str]:
    text = text.removeprefix("\ufeff")
    head = text.partition("\n")[0]
    # A spreadsheet saves with the separator of its country.
    separator = max(",;\t", key=head.count)
    return csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)


def _label(row: Mapping[str, str | None]) -> HumanLabel:
    said = (row["human"] or "").strip().lower().replace(" ", "_")
    if said not in _DECLINED:
        known = ", ".join(_DECLINED)
        msg = f"{one_line(said, 40)!r} is no label for a response (known: {known})"
        raise ValueError(msg)
    key = (row["key"] or "").strip()
    if not key:
        raise ValueError("the key is missing; rows cannot be added by hand")
    return HumanLabel(
        key=key,
        stratum=StratumKey.of_code(_whole(row["stratum"], "stratum")),
        stratum_size=_whole(row["stratum_size"], "stratum_size"),
        declined=_DECLINED[said],
    )


def _whole(text: str | None, column: str) -> int:
    digits = (text or "").strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        msg = f"{column} is {one_line(digits, 40)!r}, not a whole number"
        raise ValueError(msg)
    return int(digits)


def _contradictions(labels: Iterable[HumanLabel]) -> list[str]:
    by_stratum: dict[StratumKey, list[HumanLabel]] = {}
    for label in labels:
        by_stratum.setdefault(label.stratum, []).append(label)
    faults = []
    for stratum, found in sorted(by_stratum.items()):
        sizes = {label.stratum_size for label in found}
        if len(sizes) > 1:
            faults.append(f"stratum {stratum.code} has more than one size: labels of two runs?")
        elif len(found) > min(sizes):
            faults.append(
                f"stratum {stratum.code} has {len(found)} labels of {min(sizes)} responses"
            )
    return faults
