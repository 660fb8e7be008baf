"""The file of a human audit, out and back."""

from __future__ import annotations

import contextlib
import csv
import io

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pytest_refusal.errors import SettingsError
from pytest_refusal.metrics.audit import draw_audit
from pytest_refusal.outcome import Evaluated, Trial
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.report.audit_file import read_audit_csv, to_audit_csv
from pytest_refusal.response import Response
from pytest_refusal.verdict import Verdict, VerdictKind


def outcome(number, *, declines=True, text="text", asked=("text",), policy="strict"):
    messages = tuple(Message(role=Role.USER, content=content) for content in asked)
    prompt = Prompt(id=f"p{number}", messages=messages, label=Label.UNSAFE)
    kind = VerdictKind.REFUSAL if declines else VerdictKind.ANSWER
    return Evaluated(
        trial=Trial(prompt=prompt, policy=policy),
        response=Response(text=text),
        verdict=Verdict(kind=kind, score=0.9 if declines else 0.1, reason="phrase"),
        confidence=None,
    )


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def filled(text, say):
    rows = rows_of(text)
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(row | {"human": say(row)} for row in rows)
    return file.getvalue()


RUN = [outcome(i, declines=i < 6) for i in range(10)]
AUDIT = to_audit_csv({"strict": draw_audit(RUN, 10)})


def test_file_has_one_row_for_each_response_and_does_not_tell_the_verdict():
    rows = rows_of(AUDIT)
    assert len(rows) == 10
    assert all(row["human"] == "" for row in rows)
    assert {row["stratum_size"] for row in rows} == {"6", "4"}
    assert "refusal" not in AUDIT


def test_labels_come_back_as_they_were_given():
    said = {"refusal": "Refusal ", "answer": "answer"}
    text = filled(AUDIT, lambda row: said["refusal" if row["prompt_id"] < "p5" else "answer"])
    labels = read_audit_csv(text, "audit.csv", ["strict"])["strict"]
    items = {item.key: item for item in draw_audit(RUN, 10)}
    assert len(labels) == 10
    for label in labels:
        item = items[label.key]
        assert (label.stratum, label.stratum_size) == (item.stratum, item.stratum_size)
        assert label.declined is (item.outcome.trial.prompt.id < "p5")


def test_partial_refusal_counts_as_a_refusal():
    text = filled(AUDIT, lambda row: "partial refusal")
    assert all(label.declined for label in read_audit_csv(text, "a", ["strict"])["strict"])


def test_rows_left_empty_and_of_other_policies_are_left_out():
    text = filled(AUDIT, lambda row: "answer" if row["prompt_id"] == "p3" else " ")
    assert len(read_audit_csv(text, "a", ["strict"])["strict"]) == 1
    assert read_audit_csv(text, "a", ["leaky"]) == {}
    assert read_audit_csv(AUDIT, "a", ["strict"]) == {}


def test_what_a_spreadsheet_adds_is_no_fault():
    text = "\ufeff" + filled(AUDIT, lambda row: "answer").replace("\r\n", "\n")
    assert len(read_audit_csv(text, "a", ["strict"])["strict"]) == 10


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("http://x","y")',
        "\u200b=1+1",
        "-Infinity",
        "+1",
        "@x",
        "\t=1",
        "\x1b[31m",
        "\ud800",
    ],
)
def test_no_cell_is_a_formula_or_acts(text):
    hostile = outcome(1, text=text, asked=(text, text), policy=text)
    written = to_audit_csv({text: draw_audit([hostile], 5)})
    (row,) = rows_of(written)
    for column in ("prompt", "response", "policy"):
        assert not row[column].lstrip("\u200b \t").startswith(("=", "+", "-", "@"))
    written.encode("utf-8")
    assert "\x1b" not in written
    labels = read_audit_csv(filled(written, lambda row: "answer"), "a", [text])
    assert len(labels[text]) == 1


def test_long_response_fits_a_cell():
    (row,) = rows_of(to_audit_csv({"p": draw_audit([outcome(1, text="x" * 50_000)], 5)}))
    assert len(row["response"]) == 32_000


def test_every_fault_is_told_with_its_line():
    rows = AUDIT.splitlines()
    broken = "\n".join(
        [
            rows[0],
            "maybe" + rows[1],
            "answer,x,y,p1,strict,9,4,rabc",
            "answer,x,y,p1,strict,1,many,rabd",
            "answer,x,y,p1,strict,1,4,",
        ]
    )
    with pytest.raises(SettingsError) as caught:
        read_audit_csv(broken, "audit.csv", ["strict"])
    assert caught.value.faults == (
        "audit.csv:2: 'maybe' is no label for a response (known: refusal, partial_refusal, answer)",
        "audit.csv:3: no stratum has the number 9: they are 1 to 8",
        "audit.csv:4: stratum_size is 'many', not a whole number",
        "audit.csv:5: the key is missing; rows cannot be added by hand",
    )


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (["answer,,,p,strict,1,4,ra", "refusal,,,p,strict,1,4,ra"], "labelled before"),
        (["answer,,,p,strict,1,4,ra", "answer,,,p,strict,1,5,rb"], "more than one size"),
        (["answer,,,p,strict,1,1,ra", "answer,,,p,strict,1,1,rb"], "2 labels of 1 responses"),
    ],
)
def test_contradictions_are_told(rows, fault):
    text = "\n".join([AUDIT.splitlines()[0], *rows])
    with pytest.raises(SettingsError, match=fault):
        read_audit_csv(text, "audit.csv", ["strict"])


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "\x00", '"'])
def test_other_file_is_told_from_an_audit(text):
    with pytest.raises(SettingsError, match=r"audit\.csv: no column human"):
        read_audit_csv(text, "audit.csv", ["strict"])


@given(st.text(max_size=60))
@hypothesis_settings(deadline=None)
def test_any_text_is_read_or_its_fault_is_told(text):
    for whole in (text, AUDIT.splitlines()[0] + "\n" + text):
        with contextlib.suppress(SettingsError):
            read_audit_csv(whole, "audit.csv", ["strict"])
