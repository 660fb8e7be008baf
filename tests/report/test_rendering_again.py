"""`python -m pytest_refusal.report in.json --to out.csv`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_refusal.report.__main__ import main
from pytest_refusal.report.to_json import write_json
from pytest_refusal.report.writing import write_report


@pytest.fixture
def recorded(made, tmp_path):
    path = tmp_path / "report.json"
    write_json(made["unevaluated"](), path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_the_same_file_comes_from_the_json_as_from_the_run(made, recorded, tmp_path, suffix):
    again, first = tmp_path / f"again{suffix}", tmp_path / f"first{suffix}"
    assert main([str(recorded), "--to", str(again)]) == 0
    write_report(made["unevaluated"](), first, redact=False)
    assert again.read_bytes() == first.read_bytes()


def test_it_runs_as_a_module(recorded, tmp_path):
    command = [sys.executable, "-m", "pytest_refusal.report", str(recorded)]
    ran = subprocess.run(
        [*command, "--to", "new/out.csv"], cwd=tmp_path, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "new" / "out.csv").read_bytes().startswith(b"policy,corpus,")


def test_redacting_again_leaves_the_responses_out(recorded, tmp_path):
    assert main([str(recorded), "--to", str(tmp_path / "x.json"), "--redact"]) == 0
    assert "can't help" not in (tmp_path / "x.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["report.json", "--to", "out.doc"], "--to out.doc: no kind of report has this suffix"),
        (["nowhere.json", "--to", "out.csv"], "nowhere.json: No such file or directory"),
        (["bad.json", "--to", "out.csv"], "bad.json: is not valid JSON"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(recorded, monkeypatch, capsys, arguments, fault):
    monkeypatch.chdir(recorded.parent)
    (recorded.parent / "bad.json").write_text("{")
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(f"error: {fault}")
