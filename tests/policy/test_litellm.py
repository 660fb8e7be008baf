"""Models through LiteLLM, against a server that speaks like OpenAI; only where it is installed."""

from __future__ import annotations

import asyncio
import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response as HttpResponse

from pytest_refusal.errors import PolicyError, TransientPolicyError, UnusablePolicyError
from pytest_refusal.policy.build import build_remote
from pytest_refusal.policy.tables import parse_policy_table
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response

pytestmark = [
    pytest.mark.skipif(find_spec("litellm") is None, reason="the extra `litellm` is not installed"),
    # A library of others, whose warnings are not about us.
    pytest.mark.filterwarnings("default"),
]

KEY = "sk-canary-0123456789abcdef"
HI = {
    "id": "x", "object": "chat.completion", "created": 1, "model": "m-2",
    "choices": [{"index": 0, "finish_reason": "stop",
                 "message": {"role": "assistant", "content": "Hi."}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}  # fmt: skip


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")


def ask(httpserver: HTTPServer, key_variable: str = "KEY") -> Response:
    table = {
        "type": "litellm", "model": "openai/m", "base_url": httpserver.url_for("/v1"),
        "system": "Be kind.", "max_tokens": 9, "temperature": 0.5,
    }  # fmt: skip
    if key_variable == "KEY":
        table["api_key_env"] = key_variable
    parsed, faults = parse_policy_table("staging", table, where="t")
    assert parsed is not None, faults
    policy = build_remote(parsed, base=Path(), environ={key_variable: KEY})
    message = Message(role=Role.USER, content="Hello")
    prompt = Prompt(id="p", label=Label.SAFE, messages=(message,))
    return asyncio.run(policy.respond(prompt, sample=1))


def test_an_answer(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1/chat/completions").respond_with_json(HI)
    response = ask(httpserver)
    assert (response.text, response.finish_reason) == ("Hi.", "stop")
    assert response.usage is not None
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (3, 2)
    request = httpserver.log[0][0]
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    body = json.loads(request.get_data())
    assert [m["content"] for m in body["messages"]] == ["Be kind.", "Hello"]
    assert (body["max_tokens"], body["temperature"]) == (9, 0.5)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (429, {"message": "slow down"}, TransientPolicyError),
        (500, {"message": "gone"}, TransientPolicyError),
        (401, {"message": f"bad key {KEY}"}, UnusablePolicyError),
        (400, {"message": "no such parameter"}, PolicyError),
    ],
)
def test_an_error_is_told_once_and_without_the_key(
    httpserver: HTTPServer, status: int, error: object, kind: type
) -> None:
    httpserver.expect_request("/v1/chat/completions").respond_with_json(
        {"error": error}, status=status
    )
    with pytest.raises(PolicyError, match=f"HTTP {status}") as caught:
        ask(httpserver)
    assert type(caught.value) is kind
    assert KEY not in str(caught.value)
    assert len(httpserver.log) == 1


def test_a_key_that_it_finds_by_itself_is_hidden_too(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    echoed = json.loads(json.dumps(HI).replace("Hi.", f"Hi, {KEY}."))
    httpserver.expect_request("/v1/chat/completions").respond_with_json(echoed)
    assert ask(httpserver, "OPENAI_API_KEY").text == "Hi, [hidden]."
    assert httpserver.log[0][0].headers["Authorization"] == f"Bearer {KEY}"


BLOCKS = {
    "code": {"code": "content_policy_violation", "message": "Rejected by our safety system."},
    "with type": {
        "code": "content_policy_violation",
        "type": "invalid_request_error",
        "message": "Rejected by our safety system.",
    },
    "azure": {
        "code": "content_filter",
        "message": "The response was filtered.",
        "innererror": {"code": "ResponsibleAIPolicyViolation"},
    },
}


@pytest.mark.parametrize("case", BLOCKS)
def test_a_block_is_a_response(httpserver: HTTPServer, case: str) -> None:
    error = BLOCKS[case]
    httpserver.expect_request("/v1/chat/completions").respond_with_handler(
        lambda request: HttpResponse(
            json.dumps({"error": error}), status=400, content_type="application/json"
        )
    )
    block = ask(httpserver).block
    assert block is not None
    assert block.signal in {"content_policy_violation", "content_filter"}
    assert len(httpserver.log) == 1
