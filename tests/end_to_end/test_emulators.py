"""Runs of pytest against emulators of model servers that others wrote, from PyPI and npm."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest

REFUSES, ANSWERS = "I'm sorry, but I can't help with that.", "Sure, here is what you need to know."
XDIST = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])


@pytest.fixture(autouse=True)
def key(monkeypatch: Any) -> None:
    monkeypatch.setenv("EMULATED_KEY", "sk-emulated-0123456789")


def configure(project: Any, policies: dict[str, tuple[str, str]], more: str = "") -> None:
    """Write policies: a name, and the type and URL; the model bears the name of the policy."""
    tables = "".join(
        f'[tool.pytest-refusal.policies.{name}]\ntype = "{kind}"\nbase_url = "{url}"\n'
        f'model = "{name}"\napi_key_env = "EMULATED_KEY"\n{more}\n'
        for name, (kind, url) in policies.items()
    )
    project.write_file(
        "pyproject.toml", f'[tool.pytest-refusal]\ncorpus = "prompts.toml"\n{tables}'
    )


def verdicts(ran: Any, policy: str) -> dict[str, Any]:
    return {o["prompt_id"]: o["verdict"] for o in ran.policy(policy)["outcomes"]}


def script(url: str, behaviors: list[dict[str, Any]]) -> None:
    """Tell llmock what to do with requests for certain models."""
    request = urllib.request.Request(
        f"{url}/_llmock/scenario",
        json.dumps({"behaviors": behaviors}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        assert answer.status in {200, 201, 204}


@XDIST
def test_llmock(project: Any, emulator: Any, workers: tuple[str, ...]) -> None:
    url = emulator(
        "llmock", "PYTEST_REFUSAL_LLMOCK", "serve", "--host", "127.0.0.1", "--port", "{port}"
    )
    policies = {
        "declines": ("openai", f"{url}/v1"),
        "filtered": ("openai", f"{url}/v1"),
        "cut": ("openai", f"{url}/v1"),
        "limited": ("openai", f"{url}/v1"),
        "responses": ("openai-responses", f"{url}/v1"),
        "claude": ("anthropic", f"{url}/anthropic"),
        "gemini": ("gemini", f"{url}/gemini/v1beta"),
    }
    replies = {
        "declines": {"text": REFUSES},
        "filtered": {"text": "", "finish_reason": "content_filter"},
        "cut": {"text": "Well, first", "finish_reason": "length"},
        "limited": {"text": ANSWERS},
        "responses": {"text": REFUSES},
        "claude": {"text": REFUSES},
        "gemini": {"text": REFUSES},
    }
    script(
        url,
        [
            *(
                {"type": "reply", "times": 4, "match": {"model": f"*{model}"}, **reply}
                for model, reply in replies.items()
            ),
            {"type": "fail", "status": 429, "retry_after": 1, "match": {"model": "limited"}},
            {"type": "fail", "status": 529, "match": {"model": "claude"}},
        ],
    )
    configure(project, policies)
    ran = project.run(f"--refusal-policy={','.join(policies)}", *workers)
    assert {name: set(verdicts(ran, name).values()) for name in policies} == {
        "declines": {"refusal"}, "filtered": {"refusal"}, "cut": {None},
        "limited": {"answer"}, "responses": {"refusal"}, "claude": {"refusal"},
        "gemini": {"refusal"},
    }  # fmt: skip
    assert ran.policy("filtered")["filter_refusals"] == 4
    assert ran.policy("cut")["unevaluated_by_reason"] == {"truncated": 4}
    asked = {name: ran.policy(name)["asking"] for name in policies}
    assert {name: asking["retries"] for name, asking in asked.items()} == {
        **dict.fromkeys(policies, 0), "limited": 1, "claude": 1,
    }  # fmt: skip
    assert asked["limited"]["waited_s"] >= 1
    assert ran.report["complete"]


FIXTURES = [
    {"match": {"userMessage": "dangerous"}, "response": {"content": REFUSES}},
    {"match": {"userMessage": "secret"}, "response": {"content": "", "finishReason": "{blocked}"}},
    {"match": {"userMessage": "egg"}, "response": {"content": ANSWERS}},
    {
        "match": {"userMessage": "France"},
        "response": {"error": {"message": "no such thing", "code": "bad"}, "status": 400},
    },
]


@pytest.mark.parametrize(
    ("kind", "path", "blocked"),
    [("openai", "/v1", "content_filter"), ("anthropic", "", "refusal"),
     ("gemini", "/v1beta", "SAFETY")],
)  # fmt: skip
def test_aimock(project: Any, emulator: Any, kind: str, path: str, blocked: str) -> None:
    fixtures = json.dumps({"fixtures": FIXTURES}).replace("{blocked}", blocked)
    folder = project.write_file("fixtures/all.json", fixtures).parent
    url = emulator(
        "llmock", "PYTEST_REFUSAL_AIMOCK", "-h", "127.0.0.1", "-p", "{port}", "-f", str(folder)
    )
    configure(project, {"model": (kind, f"{url}{path}")})
    ran = project.run("--refusal-policy=model")
    assert verdicts(ran, "model") == {
        "bad-1": "refusal", "bad-2": "refusal", "good-1": "answer", "good-2": None,
    }  # fmt: skip
    assert ran.policy("model")["filter_refusals"] == 1
    assert ran.policy("model")["unevaluated_by_reason"] == {"http_400": 1}
    assert "HTTP 400 bad: no such thing" in ran.stdout or "no such thing" in ran.stdout


RULES = """
    rules:
      - path: "/v1/chat/completions"
        match: "@"
        response:
          status: 200
          content: '{"choices": [{"message": {"content": "Sure, the answer is as follows."},
            "finish_reason": "stop"}]}'
      - path: "/v1/chat/completions"
        match: "contains(body.messages[-1].content, 'dangerous')"
        response:
          status: 200
          content: >-
            {"model": "m", "choices": [{"finish_reason": "stop",
            "message": {"role": "assistant", "content": null, "refusal": "I can't."}}]}
      - path: "/v1/chat/completions"
        match: "contains(body.messages[-1].content, 'secret')"
        response:
          status: 400
          content: >-
            {"error": {"code": "content_filter", "innererror":
            {"code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"hate": {"filtered": true, "severity": "high"}}}}}
"""


def test_mock_llm(project: Any, emulator: Any) -> None:
    rules = project.write_file("rules.yaml", RULES)
    url = emulator("mock-llm", "PYTEST_REFUSAL_MOCK_LLM", "--config", str(rules))
    configure(project, {"model": ("openai", f"{url}/v1")})
    ran = project.run("--refusal-policy=model")
    assert ran.exit_status == 0
    outcomes = {o["prompt_id"]: o for o in ran.policy("model")["outcomes"]}
    assert {name: o["verdict"] for name, o in outcomes.items()} == {
        "bad-1": "refusal", "bad-2": "refusal", "good-1": "answer", "good-2": "answer",
    }  # fmt: skip
    assert "I can't." in outcomes["bad-1"]["evidence"]
    assert "hate: high" in outcomes["bad-2"]["evidence"]
    assert ran.policy("model")["filter_refusals"] == 1
