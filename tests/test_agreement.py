"""The measuring stick: labels of people on one side, the classifier on the other."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pytest_refusal.agreement import main

SHARED = Path(
    os.environ.get("PYTEST_REFUSAL_SHARED", Path(__file__).resolve().parents[1].parent / "shared")
)
LABELS = SHARED / "data" / "refusal-labels"

ROWS = [
    ("answer", "Lima is the capital of Peru."),
    ("answer", "I can't help with that."),
    ("refusal", "I'm sorry, but I can't help with that."),
    ("refusal", "I won't write that."),
    ("partial", "I must decline."),
    (None, "Hm."),
]


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.jsonl"
    rows = [
        {"id": str(i), "source": "ours", "lang": "en", "prompt": "p", "response": r, "label": label}
        for i, (label, r) in enumerate(ROWS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_the_table_has_every_figure(labels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(labels)]) == 0
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if line.startswith("ours"))
    assert " ".join(line.split()) == (
        "ours en 5 0.800 [0.376, 0.964] 0.750 1.000 0.857 0.545 [-0.164, 1.000] 0.600"
    )
    cells = [line.split() for line in out.splitlines()]
    assert ["answer", "1", "0", "1"] in cells
    assert ["partial_refusal", "0", "0", "1"] in cells
    assert ["refusal", "0", "0", "2"] in cells
    assert f"{labels}: 1 rows without a label were left out" in out


def test_disagreements_are_shown_with_their_evidence(
    labels: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(labels), "--errors"]) == 0
    out = capsys.readouterr().out
    assert "ours:2: people answer, classifier refusal" in out
    assert 'evidence: "I can\'t help" at 0 (cannot-help)' in out
    assert "ours:5: people partial_refusal, classifier refusal" in out


def test_the_columns_of_xstest_are_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "xstest.csv"
    path.write_text(
        "id,type,prompt,completion,annotation_1,annotation_2,final_label\n"
        '1,homonyms,p,"Lima, in Peru.",1_full_compliance,1_full_compliance,1_full_compliance\n'
        "2,homonyms,p,I can't help with that.,2_full_refusal,2_full_refusal,2_full_refusal\n"
        "3,homonyms,p,I must decline.,3_partial_refusal,2_full_refusal,3_partial_refusal\n",
        "utf-8",
    )
    assert main([str(path)]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("xstest"))
    assert line.split()[:4] == ["xstest", "-", "3", "1.000"]


def test_every_fault_is_named_and_nothing_is_printed_as_a_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"response": "x", "label": "maybe"}\n{"label": "answer"}\nnot json\n', "utf-8")
    assert main([str(path), str(tmp_path / "none.csv")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{path}:1: unknown label 'maybe'" in captured.err
    assert f"{path}:2: no response" in captured.err
    assert f"{path}:3: is no JSON" in captured.err


def test_an_unknown_classifier_is_refused(labels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(labels), "--classifier", "phrase"]) == 2
    assert (
        "--classifier: 'phrase' is not known; did you mean \"phrases\"" in capsys.readouterr().err
    )


def _house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text(
        """[tool.pytest-refusal]
extra_refusal_phrases = ["that is a matter for the desk"]
[tool.pytest-refusal.policies.always-answer]
extra_refusal_phrases = ["computer says no"]
""",
        "utf-8",
    )
    path = tmp_path / "house.jsonl"
    texts = ["That is a matter for the desk.", "Computer says no."]
    path.write_text(
        "".join(json.dumps({"response": t, "label": "refusal"}) + "\n" for t in texts), "utf-8"
    )
    monkeypatch.chdir(tmp_path)
    return path


def test_what_is_measured_is_the_classifier_that_gates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _house(tmp_path, monkeypatch)
    assert main([str(path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == (
        "classifier phrases 5 with 1 house phrase from pyproject.toml;"
        " left out are those of always-answer (--policy NAME counts them)"
    )
    assert " 0.500 [" in out
    assert main([str(path), "--policy", "always-answer"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "classifier phrases 5 with 2 house phrases from pyproject.toml"
    assert " 1.000 [" in out


def test_settings_are_read_from_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _house(tmp_path, monkeypatch)
    other = tmp_path / "other.toml"
    other.write_text('[tool.pytest-refusal]\nclassifier = "nobody"\n', "utf-8")
    assert main([str(path), "--config", str(other)]) == 2
    assert "'nobody' is not known" in capsys.readouterr().err
    assert main([str(path), "--config", str(other), "--classifier", "phrases"]) == 0
    assert f"classifier phrases 5 from {other}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--config", "none.toml"], "--config none.toml: there is no such file"),
        (["--config", "house.jsonl"], "house.jsonl: not valid TOML"),
        (
            ["--policy", "always-anser"],
            '--policy always-anser: not in pyproject.toml; did you mean "always-answer"?'
            " (known: always-answer)",
        ),
    ],
)
def test_settings_that_cannot_be_used_are_told(
    arguments: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([str(_house(tmp_path, monkeypatch)), *arguments]) == 2
    assert told in capsys.readouterr().err


def test_hostile_text_does_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "labels.jsonl"
    row = {"response": "I can't help.\x1b[31m\ud800", "label": "answer", "source": "a\x1bb"}
    path.write_text(json.dumps(row) + "\n", "utf-8")
    assert main([str(path), "--errors"]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.skipif(not LABELS.is_dir(), reason="the labelled sets are not on this machine")
@pytest.mark.parametrize(
    ("name", "accuracy", "exact"),
    [
        ("xstest.jsonl", 0.96, 0.92),
        ("xstest-replication.jsonl", 0.95, 0.0),
        ("do-not-answer.jsonl", 0.95, 0.0),
        ("llm-values-pct.jsonl", 0.95, 0.0),
        ("lm-refusal-eval.handwritten.jsonl", 0.95, 0.0),
    ],
)
def test_agreement_with_people(
    name: str, accuracy: float, exact: float, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(LABELS / name)]) == 0
    lines = capsys.readouterr().out.splitlines()
    figures = next(line for line in lines if " [" in line)
    assert float(figures[57:].split()[0]) >= accuracy
    assert float(figures.split()[-1]) >= exact


def with_a_jury(labels: Path, model_server: Any, more: str = "") -> Path:
    """Write settings beside the labels, in which `jury` may judge."""
    settings = labels.with_name("pyproject.toml")
    settings.write_text(
        "[tool.pytest-refusal.policies.jury]\n"
        f'type = "openai"\nbase_url = "{model_server.url}/v1"\nmodel = "m"\n{more}'
    )
    return settings


def judged_by_a_jury(labels: Path, model_server: Any, reply: str) -> int:
    """Measure a judge that says the same of each response, and return the exit status."""
    settings = with_a_jury(labels, model_server)
    model_server.script = lambda body, number: model_server.says(reply)
    return main([str(labels), "--config", str(settings), "--classifier", "judge:jury"])


def test_what_a_judge_took_is_said(
    labels: Path, model_server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged_by_a_jury(labels, model_server, '{"verdict": "refusal"}') == 0
    assert "of the judge: 5 calls; 50 tokens in, 10 out\n" in capsys.readouterr().out


@pytest.mark.parametrize("classifier", ["judge:jury", "cascade:jury"])
def test_a_judge_is_asked_about_several_responses_at_a_time(
    classifier: str, tmp_path: Path, model_server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "labels.jsonl"
    rows = [
        {
            "prompt": f"question {n}" if n % 2 else "",
            # The rules know no Finnish, so that the cascade asks too.
            "response": f"En voi auttaa sinua tässä asiassa, pahoittelen kovasti {n}.",
            "label": "refusal",
        }
        for n in range(12)
    ]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = with_a_jury(labels, model_server, "concurrency = 4\n")

    def script(body: Any, number: int) -> Any:
        # One of them gets no verdict, and is told as such.
        is_odd = "kovasti 7." in body["messages"][0]["content"]
        said = "no idea" if is_odd else '{"verdict": "refusal"}'
        return model_server.says(said, delay_s=0.05)

    model_server.script = script
    assert main([str(labels), "--config", str(settings), "--classifier", classifier]) == 0
    printed = capsys.readouterr().out
    assert model_server.most_at_once == 4
    assert "1 responses could not be judged and are in no figure" in printed
    assert " 11 " in printed
    assert "of the judge: 13 calls" in printed


def test_a_judge_that_judges_nothing_is_no_success(
    labels: Path, model_server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged_by_a_jury(labels, model_server, "no idea") == 2
    printed = capsys.readouterr()
    assert "5 responses could not be judged and are in no figure" in printed.out
    assert printed.err.startswith(
        "no response could be judged; the first: judge jury: replied twice in no form"
    )
