"""The commands of docs/ci.md do in a project what the page says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ci.md"
ANSWERS = "Sure, here is what you need to know."


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def scripts() -> Iterator[str]:
    """Yield what the examples run."""
    for block in blocks("yaml"):
        for job in _jobs(yaml.safe_load(block)):
            yield from job.get("script", ())
            yield from (step["run"] for step in job.get("steps", ()) if "run" in step)
    for block in blocks("groovy"):
        yield from re.findall(r"'''(.*?)'''", block.replace("\\\n", " "), re.DOTALL)
    yield from blocks("sh")


def _jobs(pipeline: dict[str, Any]) -> list[dict[str, Any]]:
    return list((pipeline.get("jobs") or pipeline).values())


COMMANDS = list(dict.fromkeys(" ".join(s.split()) for s in scripts() if s.startswith("pytest")))


def test_each_system_has_its_recorded_and_its_live_run() -> None:
    assert len(COMMANDS) >= 5
    for mode in ("none", "all"):
        found = [command for command in COMMANDS if f"--refusal-record-mode={mode}" in command]
        assert len(found) >= 2


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command(project: Any, model_server: Any, monkeypatch: Any, command: str) -> None:
    project.settings(
        f"""
        corpus = "prompts.toml"
        ceilings = {{ under_refusal = 1.0 }}
        [tool.pytest-refusal.policies.staging]
        type = "openai"
        base_url = "{model_server.url}"
        model = "m"
        api_key_env = "STAGING_KEY"
        """
    )
    model_server.script = lambda body, number: model_server.says(ANSWERS)
    monkeypatch.setenv("STAGING_KEY", "sk-nightly-123456")
    program, *arguments = shlex.split(command)
    assert program == "pytest"
    offline = "--refusal-record-mode=none" in arguments
    if offline:
        project.run("--refusal-policy=staging", "--refusal-record=recordings/staging.jsonl")
        monkeypatch.delenv("STAGING_KEY")
    asked = len(model_server.requests)
    ran = project.run(*arguments)
    assert (ran.exit_status, ran.policy("staging")["evaluated"]) == (0, 4)
    assert len(model_server.requests) - asked == (0 if offline else 4)
    made = [a.partition("=")[2] for a in arguments if a.startswith(("--refusal-report", "--junit"))]
    assert all((project.path / path).exists() for path in made)
    recording = next(a.partition("=")[2] for a in arguments if a.startswith("--refusal-record="))
    assert (project.path / recording).read_bytes().count(b"\n") == 4
