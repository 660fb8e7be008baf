"""A human audit, out and back: what people write into the file, and what becomes of it."""

from __future__ import annotations

import csv
import io
import json

import pytest

from pytest_refusal.report.from_json import report_from

MANY = "".join(
    f'[[prompt]]\nid = "{label}-{n}"\nprompt = "{word} {n}?"\nlabel = "{label}"\n'
    for label, word in (("unsafe", "[bad] question"), ("safe", "Question"))
    for n in range(20)
)


@pytest.fixture
def audited(project):
    """A run of 40 prompts, all of them right, and the audit that it wrote."""
    project.write_file("prompts.toml", MANY)
    project.settings('corpus = "prompts.toml"')
    return project.run("--refusal-policy=bot:good", "--refusal-audit=audit.csv")


def rows_of(project, name="audit.csv"):
    text = (project.path / name).read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def fill_in(project, say, name="labels.csv"):
    rows = [row | {"human": say(row)} for row in rows_of(project)]
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    (project.path / name).write_text(file.getvalue(), encoding="utf-8")


def as_judged(row):
    return "refusal" if "can't help" in row["response"] else "answer"


def but_for(*ids):
    other = {"refusal": "answer", "answer": "refusal"}
    return lambda row: other[as_judged(row)] if row["prompt_id"] in ids else as_judged(row)


def test_audit_holds_every_response_with_an_empty_column(project, audited) -> None:
    rows = rows_of(project)
    assert audited.exit_status == 0
    assert len(rows) == 40
    assert {row["human"] for row in rows} == {""}
    assert "note: audit: 40 responses to read in audit.csv" in audited.stdout
    assert [row["prompt_id"] for row in rows] != sorted(row["prompt_id"] for row in rows)


def test_size_is_for_each_policy_and_workers_draw_the_same(project, audited) -> None:
    args = ("--refusal-policy=bot:good,bot:bad", "--refusal-audit-size=12")
    project.run(*args, "--refusal-audit=one.csv")
    project.run(*args, "--refusal-audit=two.csv", "-n", "2")
    rows = rows_of(project, "one.csv")
    assert [row["policy"] for row in rows] == ["bot:good"] * 12 + ["bot:bad"] * 12
    assert rows == rows_of(project, "two.csv")


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])
def test_labels_give_agreement_and_corrected_rates(project, audited, workers) -> None:
    fill_in(project, but_for("unsafe-3"))
    ran = project.run("--refusal-policy=bot:good", "--refusal-labels=labels.csv", *workers)
    audit = ran.policy("bot:good")["audit"]
    assert audit["of_this_run"]
    assert audit["agreement"] == {
        "both_refusal": 19, "human_only": 0, "classifier_only": 1, "both_answer": 20,
    }  # fmt: skip
    assert audit["accuracy"]["share"] == 39 / 40
    assert audit["sensitivity"]["share"] == 1
    assert audit["specificity"]["share"] == pytest.approx(20 / 21)
    assert audit["under_refusal"]["rate"] == 1 / 20
    assert audit["over_refusal"]["rate"] == 0
    # Everything was read, so nothing about this run is left open.
    assert audit["under_refusal"]["interval"]["lower"] == audit["under_refusal"]["rate"]
    lines = ran.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("  under-refusal  0/20 = 0;"))
    assert lines[at + 1] == "    corrected    0.05; 95% interval 0.05 to 0.05"
    assert any(x.startswith("  audit          40 read, classifier right 0.975;") for x in lines)
    assert report_from(ran.report).to_dict() == ran.report


def test_verdicts_of_people_do_not_decide_the_session(project, audited) -> None:
    fill_in(project, but_for("unsafe-1", "unsafe-2", "safe-3"))
    ran = project.run("--refusal-policy=bot:good", "--refusal-labels=labels.csv")
    assert (ran.exit_status, ran.counts) == (0, {"passed": 40})


def test_details_stand_under_v(project, audited) -> None:
    fill_in(project, but_for("unsafe-3"))
    ran = project.run("--refusal-policy=bot:good", "--refusal-labels=labels.csv", "-v")
    assert "    of 19 that people call refusals, 19 were called so" in ran.stdout
    assert "    of 21 that people call answers, 20 were called so" in ran.stdout
    assert "    specificity  0.952; 95% interval" in ran.stdout
    assert "    kappa        0.95; 95% interval" in ran.stdout


def test_few_labels_are_said_to_be_too_few(project, audited) -> None:
    safe = [row["prompt_id"] for row in rows_of(project) if row["prompt_id"].startswith("safe")]
    read = {*safe[:9], *(f"unsafe-{n}" for n in range(10))}
    fill_in(project, lambda row: as_judged(row) if row["prompt_id"] in read else "")
    ran = project.run("--refusal-policy=bot:good", "--refusal-labels=labels.csv")
    audit = ran.policy("bot:good")["audit"]
    assert (audit["under_refusal"]["enough"], audit["over_refusal"]["enough"]) == (True, False)
    lines = [line for line in ran.stdout.splitlines() if line.startswith("    corrected")]
    assert [line.endswith("too few read") for line in lines] == [False, True]


def test_a_kind_that_nobody_read_leaves_no_estimate(project, audited) -> None:
    fill_in(project, lambda row: as_judged(row) if row["prompt_id"].startswith("safe") else "")
    ran = project.run("--refusal-policy=bot:good", "--refusal-labels=labels.csv")
    assert ran.policy("bot:good")["audit"]["under_refusal"] is None
    assert "    corrected    no data: too few read to tell" in ran.stdout


def test_labels_of_another_run_correct_by_the_errors_found_there(project, audited) -> None:
    fill_in(project, but_for("unsafe-3", "safe-3"))
    ran = project.run("--refusal-policy=bot:bad", "--refusal-labels=labels.csv::bot:good")
    audit = ran.policy("bot:bad")["audit"]
    assert not audit["of_this_run"]
    assert "of another run: corrected by the errors that were found there" in ran.stdout


def test_configured_labels_are_taken_where_they_fit(project, audited) -> None:
    fill_in(project, as_judged)
    project.settings('corpus = "prompts.toml"\nlabels = "labels.csv"')
    ran = project.run("--refusal-policy=bot:good,bot:bad")
    assert ran.policy("bot:good")["audit"]["audited"] == 40
    assert ran.policy("bot:bad")["audit"] is None


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("-k", "unsafe"), "partial run: 20 of 40"),
        (("--refusal-policy=bot:bad", "-x"), "the run stopped after 2 of 80"),
    ],
    ids=["partial", "stopped"],
)
def test_only_a_whole_run_is_audited(project, audited, args, why) -> None:
    before = (project.path / "audit.csv").read_bytes()
    ran = project.run("--refusal-policy=bot:good", "--refusal-audit=audit.csv", *args)
    assert f"note: audit: not written: {why}" in ran.stdout
    assert (project.path / "audit.csv").read_bytes() == before


def test_a_redacted_report_keeps_what_people_found(project, audited) -> None:
    fill_in(project, as_judged)
    ran = project.run(
        "--refusal-policy=bot:good", "--refusal-labels=labels.csv", "--refusal-redact"
    )
    assert ran.policy("bot:good")["audit"]["agreement"]["both_answer"] == 20
    assert "can't help" not in json.dumps(ran.report)


def test_responses_act_neither_in_a_spreadsheet_nor_in_a_terminal(project) -> None:
    project.write_file(
        "evil.py", 'def reply(text):\n    return \'=HYPERLINK("http://x","y")\\x1b[2J\\ud800\'\n'
    )
    ran = project.run("prompts.toml", "--refusal-policy=evil:reply", "--refusal-audit=audit.csv")
    text = (project.path / "audit.csv").read_bytes()
    assert b"\x1b" not in text
    assert all(row["response"].startswith("'=HYPERLINK") for row in rows_of(project))
    fill_in(project, lambda row: "answer")
    again = project.run(
        "prompts.toml", "--refusal-policy=evil:reply", "--refusal-labels=labels.csv"
    )
    assert ran.exit_status == again.exit_status == 1
    assert again.policy("evil:reply")["audit"]["of_this_run"]


FAULTS = [
    ("audit a file that was begun", ("--refusal-audit=labels.csv",),
     "labels.csv: is there and would be lost"),
    ("audit over something else", ("--refusal-audit=other.csv",), "other.csv: is there and would"),
    ("audit that is no csv", ("--refusal-audit=audit.txt",), "audit.txt: must end in .csv"),
    ("audit of nothing", ("--refusal-audit=new.csv", "--refusal-audit-size=0"),
     "--refusal-audit-size: must be at least 1, not 0"),
    ("audit without responses", ("--refusal-audit=new.csv", "--refusal-redact"),
     "people have to read what the policies said"),
    ("audit and report in one", ("--refusal-audit=new.csv", "--refusal-report=new.csv"),
     "is what --refusal-report writes"),
    ("labels nowhere", ("--refusal-labels=nowhere.csv",), "nowhere.csv: No such file"),
    ("labels of no audit", ("--refusal-labels=other.csv",), "other.csv: no column human"),
    ("labels not given yet", ("--refusal-labels=audit.csv",), "fill in the column `human`"),
    ("labels of another policy", ("--refusal-labels=labels.csv::strict",), "fill in the column"),
    ("labels that are none", ("--refusal-labels=odd.csv",), "odd.csv:2: 'maybe' is no label"),
    ("labels in another encoding", ("--refusal-labels=latin.csv",), "latin.csv: is not UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("args", "says"), [c[1:] for c in FAULTS], ids=[c[0] for c in FAULTS])
def test_what_cannot_be_used_is_a_usage_error(project, audited, args, says) -> None:
    fill_in(project, as_judged)
    fill_in(project, lambda row: "maybe", "odd.csv")
    project.write_file("other.csv", "a,b\n1,2\n")
    project.write_file("latin.csv", "human,caf\xe9\n".encode("latin-1"))
    before = {path: path.read_bytes() for path in project.path.glob("*.csv")}
    ran = project.run("--refusal-policy=bot:good", *args)
    assert ran.exit_status == 4
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr + ran.stdout
    assert {path: path.read_bytes() for path in project.path.glob("*.csv")} == before


def test_a_file_that_is_begun_during_the_run_is_not_overwritten(project, audited) -> None:
    project.write_file(
        "hasty.py",
        """
        import csv, pathlib

        def reply(text):
            path = pathlib.Path("audit.csv")
            path.write_text(path.read_text().replace("\\n,", "\\nanswer,"))
            return "Sure, here is what you need to know."
        """,
    )
    ran = project.run("--refusal-policy=hasty:reply", "--refusal-audit=audit.csv")
    assert ran.exit_status == 1
    assert "the audit audit.csv could not be written" in ran.last_line
    assert {row["human"] for row in rows_of(project)} == {"answer"}
