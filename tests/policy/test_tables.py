from __future__ import annotations

from pathlib import Path

import pytest

from pytest_refusal.errors import SettingsError
from pytest_refusal.policy.build import TAG_INSTRUCTION, build_remote
from pytest_refusal.policy.tables import (
    Api,
    ConfidenceBy,
    ModelTable,
    model_from_spec,
    parse_policy_table,
)

GOOD: dict[str, object] = {"type": "openai", "model": "m", "base_url": "http://localhost:8000/v1"}


def faults(**changed: object) -> list[str]:
    table = {key: value for key, value in {**GOOD, **changed}.items() if value is not None}
    parsed, found = parse_policy_table("p", table, where="policies.p")
    assert parsed is None
    return found


def test_a_table_becomes_a_value() -> None:
    parsed, found = parse_policy_table("p", {**GOOD, "confidence": "second_turn"}, where="p")
    assert found == []
    assert isinstance(parsed, ModelTable)
    assert (parsed.api, parsed.model) == (Api.OPENAI, "m")
    assert parsed.confidence is ConfidenceBy.SECOND_TURN
    assert parsed.transport.concurrency == 8
    assert parsed.prices is None


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"type": "opnai"}, "policies.p.type: must be one of openai, openai-responses, anthropic"),
        ({"type": "opnai"}, 'did you mean "openai"?'),
        ({"model": None}, "policies.p.model: is missing"),
        ({"model": ""}, "policies.p.model: must be a text that is not empty, not ''"),
        ({"temprature": 1}, 'policies.p.temprature: unknown key; did you mean "temperature"?'),
        ({"temperature": "hot"}, "must be a number from 0 to 10, not 'hot'"),
        ({"temperature": True}, "must be a number from 0 to 10, not True"),
        ({"concurrency": 0}, "must be a whole number from 1 to 1000, not 0"),
        ({"base_url": "localhost:8000"}, "must be a URL such as http://localhost:8000/v1"),
        ({"base_url": "http://[::1"}, "must be a URL such as"),
        ({"extra": []}, "policies.p.extra: must be a table, not []"),
        ({"headers": {"a": 1}}, "policies.p.headers.a: must be a text, not 1"),
        ({"system": "x", "system_file": "y"}, "only one of them can hold"),
        ({"type": "http", "url": "http://x/", "text": "t", "model": None, "base_url": None},
         "policies.p.body: must hold \"{prompt}\" or \"{messages}\""),
    ],
)  # fmt: skip
def test_faults_name_the_key_and_what_is_allowed(changed: dict[str, object], told: str) -> None:
    assert any(told in fault for fault in faults(**changed)), faults(**changed)


def test_all_faults_come_at_once() -> None:
    assert len(faults(model=None, seed=-1, extra=3, colour="red")) == 4


@pytest.mark.parametrize("table", [{"api_key": "sk-canary-1"}, {"api_key_env": "sk-canary-1"}])
def test_a_key_in_the_file_is_refused_and_not_repeated(table: dict[str, object]) -> None:
    [fault] = faults(**table)
    assert "environment variable" in fault
    assert "canary" not in fault


def test_a_key_goes_unasked_only_to_its_own_server() -> None:
    own, _ = parse_policy_table("p", {"type": "openai", "model": "m"}, where="p")
    other, _ = parse_policy_table("p", GOOD, where="p")
    assert own is not None
    assert other is not None
    assert own.transport.api_key_env == "OPENAI_API_KEY"
    assert other.transport.api_key_env is None


def test_a_model_can_be_named_in_short() -> None:
    table = model_from_spec("anthropic:claude-x")
    assert table is not None
    assert (table.api, table.model, table.name) == (Api.ANTHROPIC, "claude-x", "anthropic:claude-x")
    assert table.transport.api_key_env == "ANTHROPIC_API_KEY"
    assert model_from_spec("http:x") is None
    assert model_from_spec("my_app:answer") is None
    assert model_from_spec("openai:") is None


def test_what_is_missing_outside_the_table_is_told(tmp_path: Path) -> None:
    table = {**GOOD, "api_key_env": "NOT_SET", "system_file": "absent.txt"}
    parsed, _ = parse_policy_table("p", table, where="p")
    assert parsed is not None
    with pytest.raises(SettingsError) as caught:
        build_remote(parsed, base=tmp_path, environ={"NOT_SET": " "})
    assert len(caught.value.faults) == 2
    assert "absent.txt: cannot be read" in caught.value.faults[0]
    assert "the environment variable NOT_SET is not set" in caught.value.faults[1]


def test_a_system_prompt_from_a_file_and_the_instruction_for_a_tag(tmp_path: Path) -> None:
    (tmp_path / "system.txt").write_text("Be kind.", encoding="utf-8")
    table = {**GOOD, "system_file": "system.txt", "confidence": "tag"}
    parsed, _ = parse_policy_table("p", table, where="p")
    assert parsed is not None
    policy = build_remote(parsed, base=tmp_path, environ={})
    assert policy.fingerprint["system"] == f"Be kind.\n\n{TAG_INSTRUCTION}"
