from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from pytest_refusal.policy.http import ReplyPaths
from pytest_refusal.policy.tables import EndpointTable, ModelTable, Transport, parse_policy_table

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "policies.md").read_text(encoding="utf-8")

TABLES = {
    name: table
    for block in re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for name, table in tomllib.loads(block)["tool"]["pytest-refusal"]["policies"].items()
    if table["type"] != "function"
}


@pytest.mark.parametrize("name", TABLES)
def test_every_documented_table_is_accepted(name: str) -> None:
    table, faults = parse_policy_table(name, TABLES[name], where=name)
    assert faults == []
    assert table is not None


def test_every_key_is_documented() -> None:
    keys = {
        f.name for kind in (ModelTable, EndpointTable, Transport, ReplyPaths) for f in fields(kind)
    }
    keys -= {"name", "api", "transport", "paths", "prices"}
    documented = set(re.findall(r"`(\w+)`", PAGE.partition("### Keys of these tables")[2]))
    assert keys <= documented
