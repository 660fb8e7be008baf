"""Real models' habits as emulators of strangers know them.

They run where their commands are found: `llmock` (PyPI, in an environment of its own, since it
brings a pytest plugin) by PYTEST_REFUSAL_LLMOCK or PATH, `mock-llm` (npm, @dwmkerr/mock-llm)
by PYTEST_REFUSAL_MOCK_LLM or PATH.
"""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_refusal.execution import retry
from pytest_refusal.execution.asking import AskError, ask
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.execution.retry import RetryingPolicy
from pytest_refusal.policy.build import build_remote
from pytest_refusal.policy.tables import parse_policy_table
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response

Asking = Callable[[str], Response]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(retry, "_FIRST_WAIT_S", 0.01)


@contextmanager
def policy(kind: str, base_url: str, **keys: object) -> Iterator[Asking]:
    table = {"type": kind, "base_url": base_url, "model": "m", "api_key_env": "KEY", **keys}
    parsed, faults = parse_policy_table("staging", table, where="t")
    assert parsed is not None, faults
    remote = build_remote(parsed, base=Path(), environ={"KEY": "sk-emulated-key"})
    retrying = RetryingPolicy(remote, retries=3, timeout_s=20)
    with BackgroundLoop() as loop:

        def once(text: str) -> Response:
            messages = (Message(role=Role.USER, content=text),)
            prompt = Prompt(id="p", messages=messages, label=Label.SAFE)
            return ask(retrying, prompt, sample=1, loop=loop)

        yield once


@pytest.fixture
def llmock(emulator: Callable[..., str]) -> str:
    arguments = ("serve", "--host", "127.0.0.1", "--port", "{port}")
    return emulator("llmock", "PYTEST_REFUSAL_LLMOCK", *arguments)


def script(url: str, behaviour: dict[str, object]) -> None:
    """Tell llmock what to do with the next request."""
    request = urllib.request.Request(
        f"{url}/_llmock/scenario",
        json.dumps({"behaviors": [behaviour]}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        assert answer.status in {200, 201, 204}


def test_llmock_answers_filters_and_limits_rates(llmock: str) -> None:
    with policy("openai", f"{llmock}/v1") as once:
        script(llmock, {"type": "reply", "text": "I cannot help with that."})
        response = once("hello")
        assert (response.text, response.finish_reason) == ("I cannot help with that.", "stop")

        script(llmock, {"type": "reply", "text": "", "finish_reason": "content_filter"})
        response = once("hello")
        assert response.block is not None
        assert response.block.signal == "content_filter"

        script(llmock, {"type": "fail", "status": 429, "retry_after": 1})
        started = time.monotonic()
        once("hello")
        assert time.monotonic() - started >= 1


def test_llmock_speaks_anthropic(llmock: str) -> None:
    with policy("anthropic", f"{llmock}/anthropic") as once:
        script(llmock, {"type": "reply", "text": "Hi."})
        assert once("hello").text == "Hi."
        script(llmock, {"type": "fail", "status": 529, "match": {"provider": "anthropic"}})
        assert once("hello").finish_reason == "end_turn"


def test_llmock_speaks_gemini(llmock: str) -> None:
    with policy("gemini", f"{llmock}/gemini/v1beta") as once:
        script(llmock, {"type": "reply", "text": "Hi."})
        response = once("hello")
        assert (response.text, response.finish_reason) == ("Hi.", "STOP")


RULES = """
rules:
  - path: "/v1/chat/completions"
    match: "@"
    response:
      status: 200
      content: '{"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]}'
  - path: "/v1/chat/completions"
    match: "contains(body.messages[-1].content, 'refuse')"
    response:
      status: 200
      content: >-
        {"model": "m", "choices": [{"finish_reason": "stop",
        "message": {"role": "assistant", "content": null, "refusal": "I can't."}}]}
  - path: "/v1/chat/completions"
    match: "contains(body.messages[-1].content, 'azure')"
    response:
      status: 400
      content: >-
        {"error": {"code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation",
        "content_filter_result": {"hate": {"filtered": true, "severity": "high"}}}}}
  - path: "/v1/chat/completions"
    match: "contains(body.messages[-1].content, 'key')"
    response:
      status: 401
      content: '{"error": {"message": "Incorrect API key provided"}}'
"""


def test_mock_llm_refuses_and_blocks_in_the_words_of_providers(
    tmp_path: Path, emulator: Callable[..., str]
) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    url = emulator("mock-llm", "PYTEST_REFUSAL_MOCK_LLM", "--config", str(rules))
    with policy("openai", f"{url}/v1") as once:
        assert once("hello").text == "Hi."
        assert once("please refuse").refusal == "I can't."
        block = once("as azure does").block
        assert block is not None
        assert (block.signal, block.detail) == ("content_filter", "hate: high")
        with pytest.raises(AskError, match="HTTP 401: Incorrect API key provided"):
            once("a wrong key")
