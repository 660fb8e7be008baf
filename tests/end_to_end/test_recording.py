"""Recording, replaying and going on after an interruption, in runs of pytest."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

ANSWERS = "Sure, here is what you need to know."
XDIST = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])


@pytest.fixture
def staging(project: Any, model_server: Any) -> Any:
    """The project with twelve prompts and a policy behind the server; never the same reply."""

    def script(body: Any, number: int) -> Any:
        return model_server.says(f"{ANSWERS} (reply {number})", delay_s=0.02)

    def configure(model: str = "m", more: str = "") -> None:
        key = 'api_key_env = "STAGING_KEY"'
        project.stage(f"{model_server.url}/v1", f"{key}\n{more}", model=model)

    project.write_file("prompts.toml", corpus(12))
    model_server.script = script
    project.configure = configure
    configure()
    return project


@pytest.fixture(autouse=True)
def key(monkeypatch: Any) -> None:
    monkeypatch.setenv("STAGING_KEY", "sk-test-1234567890")


def corpus(count: int, text: str = "Question") -> str:
    return "".join(
        f'[[prompt]]\nid = "p-{n:03}"\nprompt = "{text} {n}?"\nlabel = "safe"\n'
        'category = "everyday"\n'
        for n in range(count)
    )


def run(project: Any, mode: str, *args: str, **how: Any) -> Any:
    return project.run(
        "--refusal-policy=staging", "--refusal-record=rec.jsonl",
        f"--refusal-record-mode={mode}", *args, **how,
    )  # fmt: skip


def lines(project: Any) -> list[dict]:
    text = (project.path / "rec.jsonl").read_text(encoding="ascii")
    return [json.loads(line) for line in text.splitlines()]


def verdicts(ran: Any) -> dict[str, Any]:
    return {
        o["prompt_id"]: (o["verdict"], o["response"]) for o in ran.policy("staging")["outcomes"]
    }


@XDIST
def test_what_was_recorded_is_replayed_without_server_and_key(
    staging: Any, model_server: Any, monkeypatch: Any, workers: tuple[str, ...]
) -> None:
    first = run(staging, "once", *workers)
    assert (first.exit_status, len(model_server.requests)) == (0, 12)
    assert [line["prompt_id"] for line in lines(staging)] == [f"p-{n:03}" for n in range(12)]
    assert "responses replayed from" in first.stdout
    before = (staging.path / "rec.jsonl").read_bytes()
    monkeypatch.delenv("STAGING_KEY")
    second = run(staging, "none", *workers)
    assert (second.exit_status, len(model_server.requests)) == (0, 12)
    assert verdicts(second) == verdicts(first)
    assert (
        second.policy("staging")["asking"] | {"replayed": 12, "calls": 0}
        == second.policy("staging")["asking"]
    )
    assert "refusal: no call to staging: all is recorded" in second.stdout
    assert (staging.path / "rec.jsonl").read_bytes() == before
    third = run(staging, "once", *workers)
    assert (verdicts(third), len(model_server.requests)) == (verdicts(first), 12)


def test_offline_runs_open_no_socket(staging: Any, model_server: Any) -> None:
    run(staging, "new")
    staging.write_file(
        "conftest.py",
        """
        import sys

        def audit(event, arguments):
            if event.startswith("socket."):
                raise RuntimeError(f"a socket: {event}")

        def pytest_configure():
            sys.addaudithook(audit)

        def pytest_unconfigure():
            assert "aiohttp" not in sys.modules
        """,
    )
    ran = run(staging, "none", "-p", "no:anyio", "-p", "no:pytest_httpserver", fresh=True)
    assert (ran.exit_status, ran.policy("staging")["evaluated"]) == (0, 12)
    assert "a socket" not in ran.stdout + ran.stderr


@XDIST
def test_new_asks_only_for_what_is_not_there(
    staging: Any, model_server: Any, workers: tuple[str, ...]
) -> None:
    run(staging, "new", "-k", "p-00")
    assert len(model_server.requests) == 10
    ran = run(staging, "new", *workers)
    assert (ran.exit_status, len(model_server.requests)) == (0, 12)
    assert "refusal: 2 calls to staging, 8 at a time" in ran.stdout
    assert "; 10 of 12 responses are recorded\n" in ran.stdout
    assert ran.policy("staging")["asking"]["replayed"] == 10
    assert len(lines(staging)) == 12
    ran = run(staging, "all", *workers)
    assert len(model_server.requests) == 24
    assert len(lines(staging)) == 12


def test_a_changed_prompt_is_named_and_what_is_not_used_too(
    staging: Any, model_server: Any
) -> None:
    run(staging, "new")
    changed = corpus(11) + corpus(12, "Another")[len(corpus(11, "Another")) :]
    staging.write_file("prompts.toml", changed)
    ran = run(staging, "none")
    assert ran.exit_status == 1
    assert len(model_server.requests) == 12
    assert ran.policy("staging")["unevaluated_by_reason"] == {"not_recorded": 1}
    assert "rec.jsonl holds responses that nothing asked for: prompts.toml::p-011" in ran.stdout


def test_another_model_is_another_response(staging: Any, model_server: Any) -> None:
    run(staging, "new")
    staging.configure(model="m2")
    ran = run(staging, "none")
    assert ran.policy("staging")["unevaluated_by_reason"] == {"not_recorded": 12}
    assert "but to another text, system prompt, model or other parameters" in ran.stdout


def test_judging_in_another_way_costs_no_call(staging: Any, model_server: Any) -> None:
    first = run(staging, "new")
    staging.configure(more='extra_refusal_phrases = ["here is what you need"]')
    second = run(staging, "none")
    assert (first.exit_status, second.exit_status) == (0, 1)
    assert second.policy("staging")["confusion"]["fp"] == 12
    assert len(model_server.requests) == 12


def test_samples_are_recorded_apart(staging: Any, model_server: Any) -> None:
    run(staging, "new", "--refusal-samples=2")
    assert len(lines(staging)) == len(model_server.requests) == 24
    ran = run(staging, "none", "--refusal-samples=2")
    assert (ran.exit_status, len(model_server.requests)) == (0, 24)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill"])
def test_an_interrupted_run_goes_on_where_it_stopped(
    staging: Any, model_server: Any, how: int
) -> None:
    staging.write_file("prompts.toml", corpus(60))
    staging.configure(more="concurrency = 2")
    model_server.script = lambda body, number: model_server.says(ANSWERS, delay_s=0.15)
    command = [
        sys.executable, "-m", "pytest", "--refusal-policy=staging", "--refusal-record=rec.jsonl",
        "--refusal-record-mode=new", "-q",
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=staging.path, stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: len(model_server.requests) >= 8)
        process.send_signal(how)
        process.wait(20)
    recorded = len(lines(staging))
    assert 4 <= recorded < 60
    asked = len(model_server.requests)
    ran = run(staging, "new")
    assert (ran.exit_status, ran.report["complete"]) == (0, True)
    assert ran.policy("staging")["asking"]["replayed"] == recorded
    assert len(model_server.requests) == asked + 60 - recorded
    assert len(lines(staging)) == 60
    assert len({line["key"] for line in lines(staging)}) == 60


def test_a_mode_without_a_file_is_a_usage_error(staging: Any) -> None:
    ran = staging.run("--refusal-policy=staging", "--refusal-record-mode=none")
    assert ran.exit_status == 4
    assert "--refusal-record-mode: needs --refusal-record=PATH" in ran.stderr
    ran = run(staging, "none")
    assert ran.exit_status == 4
    assert "there is no such recording" in ran.stderr
    ran = staging.run("--refusal-policy=staging", "--refusal-record=.")
    assert ran.exit_status == 4
    assert "cannot be a file there" in ran.stderr


def wait_until(condition: Any, timeout_s: float = 60.0) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
