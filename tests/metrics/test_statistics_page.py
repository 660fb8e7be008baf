"""The tables on the page about statistics are what the command prints."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def coverage():
    path = ROOT / "tests" / "benchmarks" / "coverage.py"
    spec = importlib.util.spec_from_file_location("coverage_tables", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# The others take too long to be made in every run of the tests.
@pytest.mark.parametrize("table", ["chance", "paired"])
def test_table_is_what_the_command_prints(coverage, table):
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    assert coverage.markdown(coverage.TABLES[table]()) in page
