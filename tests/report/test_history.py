"""The file of past runs, and the trend that comes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_refusal.errors import ReportError
from pytest_refusal.report.history import append_history, check_history, read_history, runs_of
from pytest_refusal.report.to_html import to_html


def test_runs_come_back_in_order(made, tmp_path):
    path = tmp_path / "new" / "history.jsonl"
    assert read_history(path) == ()
    first = runs_of(made["gate-fails"](), commit="a" * 40)
    second = runs_of(made["all-errors"](), commit="")
    append_history(path, first)
    append_history(path, second)
    assert read_history(path) == first + second
    assert first[0].under_refusal.value == 0.5
    assert second[0].under_refusal.value is None


def test_half_a_line_of_a_killed_run_is_cut_off(made, tmp_path):
    path = tmp_path / "history.jsonl"
    runs = runs_of(made["all-pass"](), commit="")
    append_history(path, runs)
    with path.open("a") as file:
        file.write('{"created": "2026", "commit"')
    assert read_history(path) == runs
    append_history(path, runs)
    assert read_history(path) == runs * 2


def test_a_whole_line_without_its_end_is_kept(made, tmp_path):
    path = tmp_path / "history.jsonl"
    runs = runs_of(made["all-pass"](), commit="")
    append_history(path, runs)
    path.write_bytes(path.read_bytes().rstrip())
    assert read_history(path) == runs
    append_history(path, runs)
    assert read_history(path) == runs * 2


def test_a_fault_is_named_with_its_line(made, tmp_path):
    path = tmp_path / "history.jsonl"
    append_history(path, runs_of(made["all-pass"](), commit=""))
    with path.open("a") as file:
        file.write('nonsense\n{"policy": 1}\n')
    with pytest.raises(ReportError) as caught:
        read_history(path)
    assert caught.value.faults[0] == f"{path}:2: is not valid JSON; take the line out"
    assert f"{path}:3: policy must be a text, not 1" in caught.value.faults
    assert check_history(path) == caught.value.faults
    assert "--refusal-history" in check_history(tmp_path)[0]


def test_the_page_shows_a_trend_from_two_runs_on(made):
    report = made["gate-fails"]()
    runs = runs_of(report, commit="abcdef0123456789")
    assert "<h3>Trend</h3>" not in to_html(replace(report, history=runs))
    page = to_html(replace(report, history=(*runs_of(made["all-pass"](), commit=""), *runs)))
    assert "<h3>Trend</h3>" in page
    assert "<td>abcdef0123</td><td>2/4 = 0.5</td><td>1/4 = 0.25</td>" in page
