"""Long runs with a server that fails at random, and runs that are killed and taken up again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import pytest

REFUSES, ANSWERS = "I'm sorry, but I can't help with that.", "Sure, here is what you need to know."


@pytest.fixture
def write(project: Any, model_server: Any) -> Any:
    """Write a project with so many prompts and a policy `staging` behind the server."""

    def written(prompts: int, concurrency: int) -> None:
        project.write_file(
            "prompts.toml",
            "".join(
                f'[[prompt]]\nid = "p-{n:04}"\nprompt = "Question {n}?"\n'
                f'label = "{"unsafe" if n % 3 else "safe"}"\ncategory = "c{n % 5}"\n'
                for n in range(prompts)
            ),
        )
        project.settings(
            f"""
            corpus = "prompts.toml"
            ceilings = {{ under_refusal = 1.0, over_refusal = 1.0 }}
            [tool.pytest-refusal.policies.staging]
            type = "openai"
            base_url = "{model_server.url}"
            model = "m"
            concurrency = {concurrency}
            """
        )

    return written


def reply(model_server: Any, body: Any) -> Any:
    """Answer as this model always does: to the same prompt in the same way."""
    text = body["messages"][-1]["content"]
    chosen = random.Random(text).choice([REFUSES, ANSWERS])
    return model_server.says(f"{chosen} ({text})")


def run(project: Any, recording: str, mode: str = "new") -> Any:
    return project.run(
        "--refusal-policy=staging", f"--refusal-record={recording}",
        f"--refusal-record-mode={mode}", "-q",
    )  # fmt: skip


def lasting(report: dict) -> dict:
    """Return what does not depend on when and how often something was asked."""
    (policy,) = report["policies"]
    kept = {name: value for name, value in policy.items() if name not in ("asking", "duration_s")}
    kept["outcomes"] = [
        {name: value for name, value in outcome.items() if name not in ("latency_s", "duration_s")}
        for outcome in policy["outcomes"]
    ]
    return {**kept, "complete": report["complete"]}


def run_smoothly(project: Any, model_server: Any, prompts: int) -> Any:
    """Record in `smooth.jsonl` a run in which nothing goes wrong."""
    model_server.script = lambda body, number: reply(model_server, body)
    smooth = run(project, "smooth.jsonl")
    assert len(model_server.requests) == prompts
    return smooth


def test_every_prompt_is_evaluated_once_whatever_the_server_does(
    project: Any, model_server: Any, write: Any
) -> None:
    prompts = 1000
    write(prompts, concurrency=32)
    smooth = run_smoothly(project, model_server, prompts)

    attempts: Counter[str] = Counter()
    replies: Counter[str] = Counter()

    def script(body: Any, number: int) -> Any:
        text = body["messages"][-1]["content"]
        attempts[text] += 1
        chance = random.Random(f"{text} {attempts[text]}")
        if chance.random() >= 0.2:
            replies[text] += 1
            return reply(model_server, body)
        # What the server asks to wait is short here; the waits of our own have their own tests.
        soon = {"retry-after-ms": "20"}
        return chance.choice(
            [
                model_server.fails(429, {"error": {"message": "slow down"}}, headers=soon),
                model_server.fails(500, "<html>Oops</html>", headers=soon),
                model_server.fails(503, {}, headers=soon),
                model_server.fails(reset=True),
            ]
        )

    model_server.script = script
    rough = run(project, "rough.jsonl")
    assert (rough.exit_status, rough.report["complete"]) == (0, True)
    asking = rough.policy("staging")["asking"]
    assert asking["calls"] == sum(attempts.values())
    assert asking["retries"] == sum(attempts.values()) - prompts > prompts * 0.2
    assert len(replies) == prompts
    assert set(replies.values()) == {1}
    assert lasting(rough.report) == lasting(smooth.report)
    smooth_lines = (project.path / "smooth.jsonl").read_bytes()
    assert (project.path / "rough.jsonl").read_bytes() == smooth_lines
    assert smooth_lines.count(b"\n") == prompts


def test_a_run_that_is_killed_again_and_again_ends_like_any_other(
    project: Any, model_server: Any, write: Any
) -> None:
    prompts = 300
    write(prompts, concurrency=4)
    smooth = run_smoothly(project, model_server, prompts)
    smooth_lines = (project.path / "smooth.jsonl").read_bytes()

    moments = random.Random(9)
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "refusal", "-p", "xdist.plugin",
        "--refusal-policy=staging", "--refusal-record=rough.jsonl", "--refusal-record-mode=new",
    ]  # fmt: skip
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for kill in range(10):
        asked = len(model_server.requests)
        workers = ["-n", "2"] if kill in (3, 7) else []
        with subprocess.Popen(
            [*command, *workers], cwd=project.path, env=environ, stdout=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:  # fmt: skip
            enough = asked + moments.randint(1, 35)
            deadline = time.monotonic() + 60
            while len(model_server.requests) < enough and process.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.001)
            time.sleep(moments.uniform(0, 0.01))
            os.killpg(process.pid, signal.SIGKILL)
            assert process.wait(20) == -signal.SIGKILL
    recorded = (project.path / "rough.jsonl").read_bytes().count(b"\n")
    assert 10 <= recorded < prompts

    rough = run(project, "rough.jsonl")
    assert rough.policy("staging")["asking"]["replayed"] >= recorded - 10
    assert (project.path / "rough.jsonl").read_bytes() == smooth_lines
    assert lasting(rough.report) == lasting(smooth.report)
    offline = run(project, "rough.jsonl", mode="none")
    assert lasting(offline.report) == lasting(smooth.report)
