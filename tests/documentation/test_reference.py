"""Every option, key, ceiling, hook and report field has its entry in the docs."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from pytest_refusal import hookspecs
from pytest_refusal.errors import SettingsError
from pytest_refusal.gate import Measure
from pytest_refusal.settings import read_settings

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


def test_every_option_has_a_row_and_says_its_default(pytester: pytest.Pytester) -> None:
    text = pytester.runpytest_inprocess("--help").stdout.str()
    section = text.partition("pytest-refusal):")[2].partition("\n\n")[0]
    options = re.findall(r"^  (--refusal-[a-z-]+)", section, re.MULTILINE)
    assert len(options) > 5
    missing = [option for option in options if f"`{option}" not in CONFIGURATION]
    assert missing == []
    helps = re.split(r"^  --refusal-", section, flags=re.MULTILINE)[1:]
    assert [text.split()[0] for text in helps if "Default" not in text] == []


def keys_of(table: dict[str, object]) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        read_settings(table, base=ROOT)
    return re.search(r"known: ([^)]*)\)", str(caught.value))[1].split(", ")


def test_every_key_is_described() -> None:
    keys = keys_of({"no-such-key": 1}) + keys_of({"regression": {"no-such-key": 1}})
    assert len(keys) > 10
    assert [key for key in keys if f"`{key}" not in CONFIGURATION] == []


def test_every_ceiling_is_described() -> None:
    assert [m.value for m in Measure if f"`{m.value}`" not in CONFIGURATION] == []


def test_every_hook_is_described() -> None:
    hooks = [name for name, _ in inspect.getmembers(hookspecs, inspect.isfunction)]
    hooks = [name for name in hooks if name.startswith("pytest_refusal_")]
    assert hooks
    assert [hook for hook in hooks if f"`{hook}" not in CONFIGURATION] == []
