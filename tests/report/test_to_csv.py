"""The table of outcomes, read by the standard library's reader."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from pytest_refusal.escape import csv_cell
from pytest_refusal.report.failure_text import REDACTED
from pytest_refusal.report.to_csv import COLUMNS, to_csv, write_csv


def rows(report, **options):
    return list(csv.DictReader(io.StringIO(to_csv(report, **options), newline="")))


def test_every_outcome_is_a_row_with_the_values_of_the_json(report):
    plain = [o for policy in report.to_dict()["policies"] for o in policy["outcomes"]]
    table = rows(report)
    assert len(table) == len(plain)
    for row, outcome in zip(table, plain, strict=True):
        assert tuple(row) == COLUMNS
        for key in ("prompt_id", "label", "category", "reason", "verdict", "corpus"):
            assert row[key] == csv_cell(outcome[key] or "")
        for key in ("confidence", "score", "duration_s", "sample", "severity", "reruns"):
            assert row[key] == ("" if outcome[key] is None else repr(outcome[key]))
        assert row["correct"] == {True: "true", False: "false", None: ""}[outcome["correct"]]


def test_it_is_written_as_the_standard_library_writes(report):
    text = to_csv(report)
    again = io.StringIO(newline="")
    csv.writer(again, lineterminator="\r\n").writerows(csv.reader(io.StringIO(text, newline="")))
    assert text == again.getvalue()


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ('=HYPERLINK("http://x","y")', '\'=HYPERLINK("http://x","y")'),
        ("\u200b=1+1", "\\u200b=1+1"),
        ("-Infinity", "'-Infinity"),
        ("a\nb;c,d", "a\nb;c,d"),
        ("\ud800", "\\ud800"),
    ],
)
def test_a_response_is_defused_in_the_file(made, tmp_path, text, cell):
    report = made["all-pass"]()
    policy = report.policies[0]
    first = policy.outcomes[0]
    first = replace(first, response=replace(first.response, text=text))
    policy = replace(policy, outcomes=(first, *policy.outcomes[1:]))
    write_csv(replace(report, policies=(policy,)), tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert table[0]["response"] == cell
    assert float(table[0]["confidence"]) == 0.9


def test_a_conversation_is_told_whole(made):
    (row,) = rows(made["rich"]())
    assert row["prompt"] == "system: Be brief.\nuser: Hello\nassistant: Hello!\nuser: And now?"


def test_redaction_leaves_nothing_that_a_policy_said(made):
    text = to_csv(made["several-policies"](), redact=True)
    assert "Boil" not in text
    assert "can't help" not in text
    assert REDACTED in text


def test_a_long_response_fits_into_a_cell(made):
    report = made["all-pass"]()
    policy = report.policies[0]
    first = replace(
        policy.outcomes[0], response=replace(policy.outcomes[0].response, text="\0" * 40_000)
    )
    table = rows(replace(report, policies=(replace(policy, outcomes=(first,)),)))
    assert len(table[0]["response"]) < 32_767
    assert table[0]["response"].endswith("more characters in the JSON report)")
