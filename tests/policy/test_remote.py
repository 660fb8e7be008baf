"""Policies behind HTTP against real servers on loopback."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import socket
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from pytest_refusal.errors import PolicyError, TransientPolicyError, UnusablePolicyError
from pytest_refusal.policy.build import build_remote
from pytest_refusal.policy.remote import RemotePolicy
from pytest_refusal.policy.tables import parse_policy_table
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response as Reply

CANARY = "sk-canary-0123456789abcdef/+=end"

TALK = Prompt(
    id="t",
    label=Label.SAFE,
    messages=(
        Message(role=Role.USER, content="Hello {messages}"),
        Message(role=Role.ASSISTANT, content="Hi."),
        Message(role=Role.USER, content="Zähl \u2028 bis drei\ud800"),
    ),
)
HI = {"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}], "model": "m-1"}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


def policy_of(table: dict[str, object], **environ: str) -> RemotePolicy:
    parsed, faults = parse_policy_table("staging", table, where="t")
    assert parsed is not None, faults
    return build_remote(parsed, base=Path(), environ=environ)


def ask(policy: RemotePolicy, prompt: Prompt = TALK, sample: int = 1) -> Reply:
    async def once() -> Reply:
        try:
            return await policy.respond(prompt, sample=sample)
        finally:
            await policy.aclose()

    return asyncio.run(once())


@pytest.fixture
def sent(httpserver: HTTPServer) -> list[Request]:
    """Serve `HI` everywhere and note the requests."""
    requests: list[Request] = []

    def handler(request: Request) -> Response:
        request.get_data()
        requests.append(request)
        return Response(json.dumps(HI), content_type="application/json")

    httpserver.expect_request(re.compile(".*")).respond_with_handler(handler)
    return requests


def body_of(request: Request) -> object:
    return json.loads(request.get_data())


def test_openai_sends_the_conversation(httpserver: HTTPServer, sent: list[Request]) -> None:
    table = {
        "type": "openai",
        "base_url": httpserver.url_for("/v1"),
        "model": "m",
        "system": "Be kind.",
        "temperature": 0.5,
        "seed": 10,
        "max_tokens": 99,
        "extra": {"top_p": 0.9},
        "api_key_env": "KEY",
        "headers": {"X-Team": "red"},
        "headers_env": {"X-Pass": "PASS"},
    }
    response = ask(policy_of(table, KEY="sk-1", PASS="word"), sample=3)
    assert (response.text, response.model, response.finish_reason) == ("Hi.", "m-1", "stop")
    assert sent[0].path == "/v1/chat/completions"
    assert sent[0].headers["Authorization"] == "Bearer sk-1"
    assert sent[0].headers["X-Team"] == "red"
    assert sent[0].headers["X-Pass"] == "word"
    assert body_of(sent[0]) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hello {messages}"},
            {"role": "assistant", "content": "Hi."},
            {"role": "user", "content": "Zähl \u2028 bis drei\ud800"},
        ],
        "temperature": 0.5,
        "seed": 12,
        "max_tokens": 99,
        "top_p": 0.9,
    }


def test_azure_keeps_its_query_and_its_own_header(
    httpserver: HTTPServer, sent: list[Request]
) -> None:
    table = {
        "type": "openai",
        "base_url": httpserver.url_for("/openai/deployments/d") + "?api-version=2024-10-21",
        "model": "m",
        "api_key_env": "KEY",
        "api_key_header": "api-key",
        "max_tokens": 5,
        "max_tokens_field": "max_completion_tokens",
    }
    ask(policy_of(table, KEY="k-123456"))
    assert sent[0].path == "/openai/deployments/d/chat/completions"
    assert sent[0].args["api-version"] == "2024-10-21"
    assert sent[0].headers["api-key"] == "k-123456"
    assert "Authorization" not in sent[0].headers
    body = body_of(sent[0])
    assert isinstance(body, dict)
    assert body["max_completion_tokens"] == 5


RESPONSES_TABLE = {"type": "openai-responses", "model": "m", "api_key_env": "KEY", "max_tokens": 9}


def test_responses_are_asked_for_and_not_stored(httpserver: HTTPServer) -> None:
    message = {"type": "message", "content": [{"type": "output_text", "text": "Hi."}]}
    httpserver.expect_request("/v1/responses").respond_with_json(
        {"status": "completed", "error": None, "output": [message], "usage": {"input_tokens": 4}}
    )
    table = {**RESPONSES_TABLE, "base_url": httpserver.url_for("/v1"), "system": "Be kind."}
    response = ask(policy_of(table, KEY="k"))
    assert (response.text, response.finish_reason) == ("Hi.", "stop")
    assert response.usage is not None
    assert response.usage.prompt_tokens == 4
    request = httpserver.log[0][0]
    assert request.headers["Authorization"] == "Bearer k"
    body = json.loads(request.get_data())
    assert [m["role"] for m in body["input"]] == ["system", "user", "assistant", "user"]
    assert (body["store"], body["max_output_tokens"]) == (False, 9)


@pytest.mark.parametrize(
    ("code", "kind"),
    [("server_error", TransientPolicyError), ("rate_limit_exceeded", TransientPolicyError),
     ("vector_store_timeout", PolicyError), ("bio_policy", None)],
)  # fmt: skip
def test_a_response_that_failed(httpserver: HTTPServer, code: str, kind: type | None) -> None:
    failed = {"status": "failed", "error": {"code": code, "message": "no"}, "output": []}
    httpserver.expect_request("/v1/responses").respond_with_json(failed)
    policy = policy_of({**RESPONSES_TABLE, "base_url": httpserver.url_for("/v1")}, KEY="k")
    if kind is None:
        block = ask(policy).block
        assert block is not None
        assert block.signal == code
        return
    with pytest.raises(PolicyError, match=code) as caught:
        ask(policy)
    assert type(caught.value) is kind


def test_anthropic_takes_the_system_prompt_out(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1/messages", method="POST").respond_with_json(
        {"content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"}
    )
    table = {
        "type": "anthropic",
        "base_url": httpserver.url_for(""),
        "model": "m",
        "system": "Be kind.",
        "api_key_env": "KEY",
    }
    assert ask(policy_of(table, KEY="k")).text == "Hi."
    request = httpserver.log[0][0]
    assert request.headers["x-api-key"] == "k"
    assert request.headers["anthropic-version"] == "2023-06-01"
    body = json.loads(request.get_data())
    assert body["system"] == "Be kind."
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]
    assert body["max_tokens"] == 1024


def test_gemini_speaks_of_contents_and_parts(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1beta/models/m:generateContent").respond_with_json(
        {"candidates": [{"content": {"parts": [{"text": "Hi."}]}, "finishReason": "STOP"}]}
    )
    table = {
        "type": "gemini",
        "base_url": httpserver.url_for("/v1beta"),
        "model": "m",
        "system": "Be kind.",
        "max_tokens": 9,
        "extra": {"generationConfig": {"topK": 3}, "safetySettings": []},
        "api_key_env": "KEY",
    }
    assert ask(policy_of(table, KEY="k")).text == "Hi."
    request = httpserver.log[0][0]
    assert request.headers["x-goog-api-key"] == "k"
    body = json.loads(request.get_data())
    assert body["systemInstruction"] == {"parts": [{"text": "Be kind."}]}
    assert [c["role"] for c in body["contents"]] == ["user", "model", "user"]
    assert body["generationConfig"] == {"maxOutputTokens": 9, "topK": 3}
    assert body["safetySettings"] == []


ENDPOINT = {
    "type": "http",
    "body": {"q": "Say: {prompt}", "n": 3, "history": "{messages}", "deep": ["{system}"]},
    "system": "Be kind.",
    "text": "answer.0.text",
    "refusal": "declined",
    "finish_reason": "why",
    "confidence": "sure",
}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"answer": [{"text": "Hi."}]}, Reply(text="Hi.")),
        ({"answer": [{"text": "Hi."}], "sure": 0.5, "why": "stop"},
         Reply(text="Hi.", confidence=0.5, finish_reason="stop")),
        ({"answer": [{"text": "Hi."}], "sure": "very"}, Reply(text="Hi.")),
        ({"answer": [{"text": "No."}], "declined": True}, Reply(text="No.", refusal="No.")),
        ({"answer": [{"text": "x"}], "declined": "No."}, Reply(text="x", refusal="No.")),
        ({"answer": [{"text": "Hi."}], "declined": False}, Reply(text="Hi.")),
        ({"answer": [{"text": None}]}, Reply(text="")),
    ],
)  # fmt: skip
def test_any_json_endpoint(httpserver: HTTPServer, reply: object, expected: Reply) -> None:
    httpserver.expect_request("/ask").respond_with_json(reply)
    policy = policy_of({**ENDPOINT, "url": httpserver.url_for("/ask")})
    assert policy.takes_conversation
    assert ask(policy) == expected
    body = json.loads(httpserver.log[0][0].get_data())
    assert body["q"] == "Say: Zähl \u2028 bis drei\ud800"
    assert body["n"] == 3
    assert body["deep"] == ["Be kind."]
    assert [m["content"] for m in body["history"]][:2] == ["Be kind.", "Hello {messages}"]


def test_a_flag_without_a_text_is_a_signal_without_words(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/ask").respond_with_json({"declined": True})
    response = ask(policy_of({**ENDPOINT, "url": httpserver.url_for("/ask")}))
    assert response.text == ""
    assert response.refusal is None
    assert response.block is not None
    assert response.block.signal == "declined"


@pytest.mark.parametrize("reply", [{}, {"answer": []}, {"answer": [{"text": 3}]}])
def test_a_reply_without_its_text_is_an_error(httpserver: HTTPServer, reply: object) -> None:
    httpserver.expect_request("/ask").respond_with_json(reply)
    with pytest.raises(PolicyError, match=r"'answer\.0\.text'"):
        ask(policy_of({**ENDPOINT, "url": httpserver.url_for("/ask")}))


def test_a_prompt_in_the_url_is_quoted(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/ask", method="GET").respond_with_json({"a": "Hi."})
    prompt = Prompt(
        id="p", label=Label.SAFE, messages=(Message(role=Role.USER, content="a&b=c {system}"),)
    )
    url = httpserver.url_for("/ask") + "?q={prompt}"
    policy = policy_of({"type": "http", "url": url, "text": "a"})
    assert not policy.takes_conversation
    assert ask(policy, prompt).text == "Hi."
    assert httpserver.log[0][0].args["q"] == "a&b=c {system}"


ERRORS = {
    "rate limit": (429, {"Retry-After": "1.5"}, {"error": {"message": "slow"}},
                   TransientPolicyError, "HTTP 429: slow", 1.5),
    "milliseconds": (429, {"retry-after-ms": "250", "Retry-After": "9"}, {},
                     TransientPolicyError, "HTTP 429", 0.25),
    "nonsense": (429, {"Retry-After": "soon"}, {}, TransientPolicyError, "HTTP 429", None),
    "overloaded": (529, {}, {"type": "error", "error": {"type": "overloaded_error",
                   "message": "busy"}}, TransientPolicyError,
                   "HTTP 529 overloaded_error: busy", None),
    "told not to": (500, {"x-should-retry": "false"}, {}, PolicyError, "HTTP 500", None),
    "no quota": (429, {}, {"error": {"code": "insufficient_quota", "message": "pay"}},
                 UnusablePolicyError, "HTTP 429 insufficient_quota: pay", None),
    "wrong key": (401, {}, {"error": {"message": "bad key"}}, UnusablePolicyError,
                  "HTTP 401: bad key (the key is missing or wrong", None),
    "no such model": (404, {}, {"error": "model 'x' not found"}, UnusablePolicyError,
                      "HTTP 404: model 'x' not found (no such model", None),
    "context": (400, {}, {"error": {"code": 400, "type": "exceed_context_size_error"}},
                PolicyError, "HTTP 400 exceed_context_size_error", None),
    "loading": (503, {}, {"error": {"code": 503, "message": "Loading model"}},
                TransientPolicyError, "HTTP 503: Loading model", None),
    "200 with an error": (200, {}, {"error": {"code": 502, "message": "gone"}},
                          TransientPolicyError, "HTTP 502: gone", None),
    "page": (502, {}, "<html><h1>Bad\x1b gateway", TransientPolicyError,
             r"HTTP 502: no JSON: '<html><h1>Bad\\x1b gateway'", None),
    "page as a success": (200, {}, "<html>login", TransientPolicyError,
                          "no JSON: '<html>login' (HTML instead of JSON: a login page", None),
    "list": (200, {}, [], TransientPolicyError, "expected a JSON object", None),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_errors_say_whether_to_try_again(httpserver: HTTPServer, case: str) -> None:
    status, headers, body, kind, told, wait_s = ERRORS[case]
    text = body if isinstance(body, str) else json.dumps(body)
    httpserver.expect_request("/chat/completions").respond_with_data(
        text, status=status, headers=headers
    )
    table = {"type": "openai", "base_url": httpserver.url_for(""), "model": "m"}
    with pytest.raises(PolicyError) as caught:
        ask(policy_of(table))
    assert type(caught.value) is kind
    assert told in str(caught.value)
    assert getattr(caught.value, "wait_s", None) == wait_s


def test_a_block_reported_as_an_error_is_a_response(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/chat/completions").respond_with_json(
        {"error": {"code": "content_filter", "message": "filtered"}}, status=400
    )
    table = {"type": "openai", "base_url": httpserver.url_for(""), "model": "m"}
    block = ask(policy_of(table)).block
    assert block is not None
    assert block.signal == "content_filter"


def test_a_redirect_is_not_followed(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/chat/completions").respond_with_data(
        "", status=307, headers={"Location": f"http://example.invalid/?key={CANARY}"}
    )
    table = {"type": "openai", "base_url": httpserver.url_for(""), "model": "m"}
    with pytest.raises(PolicyError, match="redirects are not followed") as caught:
        ask(policy_of(table))
    assert not isinstance(caught.value, TransientPolicyError)


def test_nobody_at_the_other_end() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    table = {"type": "openai", "base_url": f"http://127.0.0.1:{port}/v1", "model": "m"}
    with pytest.raises(TransientPolicyError, match=f"no reply from http://127.0.0.1:{port}/v1/"):
        ask(policy_of(table))


def test_a_stalled_server_times_out() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        table = {"type": "openai", "base_url": url, "model": "m", "request_timeout_s": 0.2}
        with pytest.raises(TransientPolicyError, match="timed out waiting for it") as caught:
            ask(policy_of(table))
    assert caught.value.reason == "timeout"


def test_a_secret_that_is_echoed_is_hidden(httpserver: HTTPServer) -> None:
    def echo(request: Request) -> Response:
        key = request.headers["Authorization"]
        texts = [
            key,
            base64.b64encode(key.encode()).decode(),
            base64.b64encode(b"user:" + CANARY.encode()).decode(),
            CANARY[:12] + "****",
            request.full_path,
            request.headers["X-Pass"],
        ]
        return Response(json.dumps({"error": {"message": " ".join(texts)}}), status=400)

    httpserver.expect_request("/chat/completions").respond_with_handler(echo)
    table = {
        "type": "openai",
        "base_url": httpserver.url_for("").rstrip("/") + "?token=query-secret",
        "model": "m",
        "api_key_env": "KEY",
        "headers_env": {"X-Pass": "PASS"},
    }
    policy = policy_of(table, KEY=CANARY, PASS="open-sesame")
    with pytest.raises(PolicyError) as caught:
        ask(policy)
    shown = f"{caught.value!r} {policy!r} {vars(policy)!r} {policy.fingerprint!r}"
    for form in (CANARY, CANARY[:12], "query-secret", "open-sesame",
                 base64.b64encode(CANARY.encode()).decode()[:20]):  # fmt: skip
        assert form not in shown
    assert "[hidden]" in str(caught.value)


@pytest.mark.parametrize(
    ("base_url", "proxy"),
    [("http://me:p%40ss-canary@HOST", ""), ("http://HOST", "http://me:p%40ss-canary@HOST")],
    ids=["in the URL", "of the proxy"],
)
def test_a_password_that_is_sent_otherwise_than_it_is_written_is_hidden(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, base_url: str, proxy: str
) -> None:
    def echo(request: Request) -> Response:
        sent = request.headers.get("Authorization") or request.headers["Proxy-Authorization"]
        plain = base64.b64decode(sent.removeprefix("Basic ")).decode()
        return Response(json.dumps({"error": {"message": f"{sent} {plain}"}}), status=400)

    httpserver.expect_request("/chat/completions").respond_with_handler(echo)
    host = f"{httpserver.host}:{httpserver.port}"
    if proxy:
        monkeypatch.delenv("NO_PROXY")
        monkeypatch.setenv("http_proxy", proxy.replace("HOST", host))
    table = {"type": "openai", "base_url": base_url.replace("HOST", host), "model": "m"}
    with pytest.raises(PolicyError, match=r"\[hidden\]") as caught:
        ask(policy_of(table, **os.environ))
    assert "ss-canary" not in str(caught.value)
    assert base64.b64encode(b"me:p@ss-canary").decode()[4:-4] not in str(caught.value)


def test_offline_needs_neither_key_nor_client() -> None:
    table = {"type": "openai", "model": "m"}
    parsed, _ = parse_policy_table("staging", table, where="t")
    assert parsed is not None
    policy = build_remote(parsed, base=Path(), environ={}, offline=True)
    assert policy.fingerprint["url"] == "https://api.openai.com/v1/chat/completions"
