"""Keys are in no output, whatever a server does with them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

ANSWERS = "Sure, here is what you need to know."
XDIST = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])

# With what URLs and JSON escape, each in its own way.
CANARY = 'sk-canary/7f3a+9c2e"41d8b6'
SESSION = "session-5d0c7e11aa"
PASSWORD = "open-sesame-42"
QUERY = "token-in-the-query-99"
SECRETS = (CANARY, SESSION, PASSWORD, QUERY)

OWN_TEST = """
    def test_it(refusal_case):
        key_holder = refusal_case
        assert refusal_case.outcome is None, refusal_case

    def test_response(refusal_prompt, request):
        everything = dict(vars(request.config))
        assert not refusal_prompt
"""


@pytest.fixture
def staging(project: Any, model_server: Any, monkeypatch: Any) -> Any:
    """The project with a policy whose every place for a secret holds one."""
    monkeypatch.setenv("STAGING_KEY", CANARY)
    monkeypatch.setenv("STAGING_SESSION", SESSION)
    host = model_server.url.removeprefix("http://")
    project.stage(
        f"http://me:{PASSWORD}@{host}/v1?token={QUERY}",
        'api_key_env = "STAGING_KEY"\nheaders_env = { X-Session = "STAGING_SESSION" }\nretries = 0',
    )
    return project


def forms(secret: str) -> set[str]:
    """List what a secret may be found as."""
    raw = secret.encode()
    return {
        secret, secret[:12], quote(secret, safe=""), json.dumps(secret)[1:-1],
        secret.replace("/", "\\/"), base64.b64encode(raw).decode()[:-4],
        base64.b64encode(b"me:" + raw).decode()[4:-4],
    }  # fmt: skip


ECHOES = {
    "error": lambda server, head: server.fails(
        400, {"error": {"message": f"Incorrect API key provided: {CANARY[:14]}*** {head}"}}
    ),
    "code": lambda server, head: server.fails(400, {"error": {"code": CANARY, "type": SESSION}}),
    "page": lambda server, head: server.fails(500, f"<html>{head}</html>"),
    "reply": lambda server, head: server.says(f"{ANSWERS} {head} {CANARY} {QUERY}"),
    "fields": lambda server, head: server.fails(
        200,
        {
            "model": CANARY,
            "choices": [
                {
                    "finish_reason": SESSION,
                    "message": {
                        "refusal": QUERY,
                        "tool_calls": [{"function": {"name": PASSWORD}}],
                    },
                }
            ],
        },
    ),
    "escaped": lambda server, head: server.fails(
        200,
        '{"choices": [{"finish_reason": "stop", "message": {"content": "'
        + "".join(f"\\u{ord(letter):04x}" for letter in CANARY)
        + " "
        + json.dumps(CANARY)[1:-1].replace("/", "\\/")
        + '"}}]}',
    ),
    "base64": lambda server, head: server.says(
        base64.b64encode(f"xx{CANARY} and {SESSION}".encode()).decode()
    ),
}


@XDIST
def test_a_key_that_the_server_echoes_is_in_no_output(
    staging: Any, model_server: Any, monkeypatch: Any, workers: tuple[str, ...]
) -> None:
    headers = {"X-Echo": SESSION, "Set-Cookie": f"s={CANARY}", "WWW-Authenticate": CANARY}

    def script(body: Any, number: int) -> Any:
        echo = ECHOES[body["messages"][-1]["content"]]
        served = echo(model_server, model_server.heads[-1])
        served.headers.update(headers)
        return served

    model_server.script = script
    staging.write_file(
        "prompts.toml",
        "".join(f'[[prompt]]\nid = "{e}"\nprompt = "{e}"\nlabel = "unsafe"\n' for e in ECHOES),
    )
    staging.write_file("test_own.py", OWN_TEST)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(staging.path / "step-summary.md"))
    arguments = (
        "prompts.toml", "test_own.py", "--refusal-policy=staging", "-vv", "--showlocals",
        "--tb=long", "--log-level=DEBUG", "--log-cli-level=DEBUG", "--log-file=log.txt", "-rA",
        "--refusal-report=out.csv", "--refusal-report=out.html", "--refusal-report=out.md",
        "--refusal-report=out.svg", "--refusal-report=gl-code-quality-report.json",
        "--refusal-history=history.jsonl", "--refusal-github", "--refusal-audit=audit.csv",
        "--refusal-record=rec.jsonl", "--refusal-record-mode=new", "-o", "junit_logging=all",
        "-p", "no:cacheprovider", *workers,
    )  # fmt: skip
    # The second time the recording is read, and written anew.
    for _ in range(1 if workers else 2):
        ran = staging.run(*arguments, fresh=True)
        assert any(CANARY in head for head in model_server.heads)
        assert ran.exit_status == 1
        assert len(ran.policy("staging")["outcomes"]) == len(ECHOES)
        assert ran.policy("staging")["unevaluated"] >= 3
        assert "[hidden]" in ran.stdout
        outputs = {"stdout": ran.stdout, "stderr": ran.stderr, **written(staging.path)}
        wanted = {"out.json", "out.xml", "out.csv", "out.html", "out.md", "log.txt",
                  "out.svg", "gl-code-quality-report.json",
                  "history.jsonl", "step-summary.md", "stdout"}  # fmt: skip
        assert wanted <= outputs.keys()
        for name, text in outputs.items():
            found = [form for secret in SECRETS for form in forms(secret) if form in text]
            assert found == [], name


APP = f"""
    import os

    def reply(text):
        print("asked with", os.environ["STAGING_KEY"])
        if "egg" in text:
            raise ValueError("no eggs for " + os.environ["STAGING_KEY"])
        return {ANSWERS!r}
"""


@XDIST
def test_the_key_of_a_judge_is_in_no_output_either(
    staging: Any, model_server: Any, workers: tuple[str, ...]
) -> None:
    staging.write_file("app.py", APP)

    def script(body: Any, number: int) -> Any:
        head = model_server.heads[-1]
        if "France" in body["messages"][-1]["content"]:
            return model_server.fails(400, {"error": {"message": f"{CANARY} {head}"}})
        return model_server.says(f"I never saw {CANARY}. {head}")

    model_server.script = script
    arguments = ("--refusal-policy=app:reply", "--refusal-classifier=judge:staging", "-vv")
    ran = staging.run(*arguments, "--showlocals", "-rA", *workers, fresh=True)
    assert any(CANARY in head for head in model_server.heads)
    assert ran.policy("app:reply")["unevaluated"] == 4
    assert "[hidden]" in ran.stdout
    for name, text in {"stdout": ran.stdout, **written(staging.path)}.items():
        found = [form for secret in SECRETS for form in forms(secret) if form in text]
        assert found == [], name


def written(folder: Path) -> dict[str, str]:
    """Read every file but the configuration, which holds two of the secrets itself."""
    return {
        str(path.relative_to(folder)): path.read_bytes().decode("utf-8", "replace")
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and path.name != "pyproject.toml"
    }


def test_a_key_is_in_no_message_about_bad_settings(staging: Any, monkeypatch: Any) -> None:
    table = (staging.path / "pyproject.toml").read_text()
    staging.write_file("pyproject.toml", f"{table}\napi_key = '{CANARY}'\ntemperature = 'hot'\n")
    ran = staging.run("--refusal-policy=staging", fresh=True)
    assert ran.exit_status == 4
    assert not any(secret in ran.stdout + ran.stderr for secret in SECRETS)


def test_a_key_that_no_header_can_hold_is_told_and_not_shown(
    staging: Any, model_server: Any, monkeypatch: Any
) -> None:
    monkeypatch.setenv("STAGING_KEY", f"{CANARY}\nX-Evil: 1")
    ran = staging.run("--refusal-policy=staging", fresh=True)
    assert ran.exit_status == 4
    assert "STAGING_KEY holds what no header can" in ran.stderr
    assert CANARY[:12] not in ran.stdout + ran.stderr
    assert model_server.requests == []


def test_a_server_that_sends_elsewhere_gets_no_key_there(
    staging: Any, model_server: Any, httpserver: Any
) -> None:
    elsewhere = {"Location": httpserver.url_for("/stolen")}
    model_server.script = lambda body, number: model_server.fails(307, {}, headers=elsewhere)
    ran = staging.run("--refusal-policy=staging")
    assert ran.exit_status != 0
    assert "redirects are not followed" in ran.stdout
    assert httpserver.log == []
