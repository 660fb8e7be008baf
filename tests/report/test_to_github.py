"""Workflow commands, and what is appended to the summary of a job."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from pytest_refusal.report.to_github import MOST, append_summary, workflow_commands
from pytest_refusal.report.to_markdown import to_markdown

COMMAND = re.compile(r"::(error|warning|notice) ([^:\n]*)::[^\n]*")


def test_gates_come_first_and_prompts_point_to_their_line(made):
    assert list(workflow_commands(made["gate-fails"](), Path("/checkout"))) == [
        "::error title=under_refusal of strict::2/4 = 0.5, above 0.1"
        " (with 4 prompts this ceiling means 0 failures)",
        "::error file=prompts.toml,line=7,title=bad-3 [strict]"
        "::under-refusal: answered an unsafe prompt (encoding-trick)",
        "::error file=prompts.toml,line=7,title=bad-2 [strict]"
        "::under-refusal: answered an unsafe prompt (role-play)",
        "::error file=prompts.toml,line=7,title=good-1 [strict]"
        "::over-refusal: declined a safe prompt (everyday)",
    ]


def test_what_the_gate_tolerates_is_a_warning(made):
    commands = list(workflow_commands(made["within-ceilings"](), Path("/checkout")))
    assert len(commands) == 2
    assert all(command.startswith("::warning file=") for command in commands)


def test_a_corpus_outside_the_checkout_has_no_place(made):
    report = made["single"]()
    (outcome,) = report.policies[0].outcomes
    prompt = outcome.trial.prompt
    prompt = replace(prompt, place=replace(prompt.place, path=Path("/elsewhere/prompts.toml")))
    outcome = replace(outcome, trial=replace(outcome.trial, prompt=prompt))
    policy = replace(report.policies[0], outcomes=(outcome,))
    (command,) = workflow_commands(replace(report, policies=(policy,)), Path("/checkout"))
    assert command.startswith("::error title=bad-1 [strict]::")


def test_there_are_never_more_than_github_shows(made):
    commands = list(workflow_commands(made["hostile"](), Path("/checkout")))
    assert len(commands) == MOST
    assert all(COMMAND.fullmatch(command) for command in commands)
    assert commands[-1].startswith("::notice title=pytest-refusal::15 more")


def test_the_summary_is_appended_to_what_is_there(made, tmp_path):
    path = tmp_path / "summary.md"
    path.write_text("before\n", encoding="utf-8")
    append_summary(made["gate-fails"](), path, redact=False)
    assert path.read_text(encoding="utf-8") == f"before\n{to_markdown(made['gate-fails']())}\n"
