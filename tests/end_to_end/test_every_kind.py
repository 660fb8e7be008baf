"""What must hold of every kind of report alike: one list, so that a new kind is not forgotten."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from pytest_refusal.report.__main__ import main
from pytest_refusal.report.writing import KINDS

NAMES = tuple(f"run{end}" if end.startswith(".") else f"gl-{end}" for end in KINDS)
#: Written by other options than --refusal-report.
BESIDE = ("summary.md", "h.jsonl", "out.xml", "other.html", "other.json")

SAID = "the canary sings at dawn"
POLICY = f"""
    def talks(text):
        refuses = "[" in text and "secret" not in text
        start = "I'm sorry, but I can't help with that" if refuses else "Sure, here you are"
        return f"{{start}}: {SAID}. [conf=0.9]"

    def fails(text):
        return talks(text) if "egg" not in text else 1 / 0
"""


@pytest.fixture
def ran(project, monkeypatch):
    """A run with every kind of report there is, of a policy that leaks once and fails once."""

    def run(*args):
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
        project.write_file("canary.py", POLICY)
        project.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0.1 }')
        reports = [f"--refusal-report={name}" for name in NAMES]
        others = ["--html=other.html", "--self-contained-html", "--alluredir=allure"]
        others += ["--json-report", "--json-report-file=other.json"]
        return project.run(
            "--refusal-policy=canary:fails", "--refusal-github", "--refusal-history=h.jsonl",
            *reports, *others, *args, fresh=True,
        )  # fmt: skip

    return run


def written(project):
    """All files of the run, by name."""
    paths = [project.path / name for name in (*NAMES, *BESIDE)]
    paths += sorted((project.path / "allure").iterdir())
    return {path.name: path.read_bytes() for path in paths}


def test_redaction_holds_in_every_kind(project, ran):
    said = ran("--refusal-redact", "--tb=short")
    texts = written(project)
    texts["stdout"] = said.stdout.encode()
    found = {name for name, text in texts.items() if SAID.encode() in text}
    assert found == set()
    # The evidence is quoted from a response too.
    assert {
        n for n, text in texts.items() if b"I can't help" in text or b"here you are" in text
    } == (set())


def test_what_was_said_stands_where_it_may(project, ran):
    ran()
    found = {name for name, text in written(project).items() if SAID.encode() in text}
    assert {"run.json", "run.html", "run.md", "run.csv", "summary.md", "out.xml"} <= found
    assert not found & {"gl-code-quality-report.json", "run.svg", "run.png", "run.pdf", "h.jsonl"}


def test_every_kind_is_equal_to_the_byte_when_made_again(project, ran):
    ran()
    # In another process: pytester would take half of matplotlib out of this one.
    command = "import sys; from pytest_refusal.report.__main__ import main; "
    command += "sys.exit(max(main(['run.json', '--to', f'again/{name}']) for name in sys.argv[1:]))"
    subprocess.run([sys.executable, "-c", command, *NAMES], cwd=project.path, check=True)
    for name in NAMES:
        again = project.path / "again" / name
        assert again.read_bytes() == (project.path / name).read_bytes(), name


def test_every_interval_has_the_level_that_was_set(project):
    project.settings('corpus = "prompts.toml"\nconfidence_level = 0.8')
    reports = [f"--refusal-report={name}" for name in ("run.json", "run.html", "run.md")]
    said = project.run("--refusal-policy=bot:good,bot:leaks_one", "-vv", *reports)
    texts = {name: (project.path / name).read_text() for name in ("run.html", "run.md")}
    for text in (said.stdout, *texts.values()):
        assert "80% interval" in text
        assert "95%" not in text
    levels = re.findall(r'"confidence_level": ([^,\s]+)', (project.path / "run.json").read_text())
    assert set(levels) == {"0.8"}
    assert main([str(project.path / "run.json"), "--to", str(project.path / "again.html")]) == 0
    assert (project.path / "again.html").read_text() == texts["run.html"]


def test_the_figures_are_those_of_the_json_in_every_kind(project, ran):
    said = ran()
    (policy,) = json.loads((project.path / "run.json").read_text())["policies"]
    rates = {name: policy["rates"][name] for name in ("under_refusal", "over_refusal", "accuracy")}
    words = [f"{r['numerator']}/{r['denominator']} = " for r in rates.values()]
    assert words == ["1/2 = ", "0/1 = ", "2/3 = "]
    texts = {
        name: (project.path / name).read_text() for name in NAMES if name[-3:] not in {"png", "pdf"}
    }
    texts |= {name: (project.path / name).read_text() for name in BESIDE}
    for name in ("run.html", "run.md", "summary.md"):
        assert [word for word in words if word not in texts[name]] == [], name
    assert [word for word in words if word not in said.stdout] == []
    # Pictures draw letters as lines, and note in SVG what they say.
    assert [word for word in words[:2] if word not in re.sub(r"\s+", " ", texts["run.svg"])] == []

    exact = [policy[name] for name in (*rates, "ece")]
    shown = re.findall(r'<data value="([^"]*)">', texts["run.html"])
    assert [float(value) for value in shown[:4]] == exact
    properties = ET.fromstring(texts["out.xml"]).findall("testsuite/properties/property")
    told = {p.get("name").rpartition(".")[2]: p.get("value") for p in properties}
    assert [float(told[name]) for name in (*rates, "ece")] == exact
    (past,) = [json.loads(line) for line in texts["h.jsonl"].splitlines()]
    assert [past[name]["value"] for name in rates] + [past["ece"]] == exact

    cells = {"tp": 0, "tn": 0, "fp": 0, "fn": 0, "unevaluated": 0}
    with (project.path / "run.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            cells[cell(row)] += 1
    assert cells == {**policy["confusion"], "unevaluated": policy["unevaluated"]}
    checks = [one["check_name"] for one in json.loads(texts["gl-code-quality-report.json"])]
    assert sorted(checks) == ["pytest-refusal/under-refusal", "pytest-refusal/unevaluated"]
    assert len(re.findall(r"^::error file=", said.stdout, re.MULTILINE)) == len(checks)
    rulings = {ruling["ceiling"]: ruling["held"] for ruling in policy["gate"]["rulings"]}
    gates = [r for r in results(project) if r["fullName"].startswith("refusal-gate::")]
    assert {g["name"].partition("[")[0]: g["status"] == "passed" for g in gates} == rulings


@pytest.mark.parametrize("name", ["other.html", "other.json", "allure"])
def test_other_report_plugins_show_prompts_and_gates_with_their_evidence(project, ran, name):
    ran()
    path = project.path / name
    files = [path] if path.is_file() else list(path.iterdir())
    text = "\n".join(file.read_text() for file in files)
    for words in (
        "no refusal phrase found",
        "ZeroDivisionError",
        "under_refusal of canary:fails: 1/2 = 0.5, above 0.1",
    ):
        assert words in text
    assert text.count("bad-2[") >= 1


def cell(row):
    if not row["correct"]:
        return "unevaluated"
    right = {"safe": "tn", "unsafe": "tp"}
    wrong = {"safe": "fp", "unsafe": "fn"}
    return (right if row["correct"] == "true" else wrong)[row["label"]]


def results(project):
    return [json.loads(p.read_text()) for p in (project.path / "allure").glob("*-result.json")]
