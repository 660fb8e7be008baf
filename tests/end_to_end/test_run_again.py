"""The line `run again` of a failure: pasted into a shell it comes to the same."""

from __future__ import annotations

import shlex

import pytest


def run_again(stdout: str) -> list[str]:
    """Return the words of the only such line, without the name of the program."""
    (line,) = {x.strip() for x in stdout.splitlines() if x.strip().startswith("run again")}
    program, *words = shlex.split(line.removeprefix("run again"))
    assert program == "pytest"
    return words


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])
def test_it_carries_what_decides_the_outcome(project, monkeypatch, workers) -> None:
    monkeypatch.chdir(project.path)
    typed = (
        "--rootdir=.",
        "--refusal-classifier=phrases",
        "--refusal-samples=2",
        "--refusal-record=said it.jsonl",
        "--refusal-record-mode=new",
        "--refusal-redact",
    )
    project.settings(
        'corpus = "prompts.toml"\n[tool.pytest-refusal.policies.good]\n'
        'type = "function"\ntarget = "bot:bad"\n'
    )
    node_id = "prompts.toml::bad-1[good#1]"
    ran = project.run("-c", "pyproject.toml", node_id, "--refusal-policy=good", *typed, *workers)
    words = run_again(ran.stdout)
    assert words == [
        "-c", "pyproject.toml", typed[0], node_id, "--refusal-policy=good", *typed[1:]
    ]  # fmt: skip
    assert project.run(*words).exit_status == ran.exit_status == 1


def test_a_replayed_failure_asks_nobody_when_it_is_run_again(project) -> None:
    project.settings('corpus = "prompts.toml"')
    policy, record = "--refusal-policy=bot:leaks_one", "--refusal-record=said.jsonl"
    project.run(policy, record)
    project.write_file("bot.py", "def leaks_one(text):\n    raise RuntimeError('asked')\n")
    replayed = project.run(policy, record, "--refusal-record-mode=none")
    words = run_again(replayed.stdout)
    assert words[2:] == [record, "--refusal-record-mode=none"]
    again = project.run(*words)
    assert again.counts == {"failed": 1}


def test_it_is_short_where_nothing_was_typed(project) -> None:
    project.settings('corpus = "prompts.toml"\npolicy = "bot:leaks_one"\nsamples = 1\n')
    (node_id, policy) = run_again(project.run().stdout)
    assert node_id.startswith("prompts.toml::bad-2[")
    assert policy == "--refusal-policy=bot:leaks_one"
